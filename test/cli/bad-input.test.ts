import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { fix, makeScene, type Ran } from '../testkit/scene.ts';

/** One sentence, what to do, exit 2: no stack, no second guess. */
const expectRefusal = (ran: Ran, ...words: readonly RegExp[]): void => {
  expect(ran.code, ran.all).toBe(2);
  expect(ran.stderr).not.toMatch(/\n\s+at .*\.ts:/);
  for (const word of words) expect(ran.stderr + ran.stdout).toMatch(word);
};

describe('bad input: one sentence, what to do, exit 2, nothing changed', () => {
  test('CLI-01 not a repository', async () => {
    await using scene = await makeScene();
    const dir = path.join(scene.root, 'plain');
    mkdirSync(dir);
    for (const args of [['run'], ['status'], ['init'], ['goal', 'x', '--check', 'true']])
      expectRefusal(await scene.gyreIn(dir, ...args), /not in a git repository/);
    expect(existsSync(path.join(dir, '.gyre'))).toBe(false);
  });

  test('CLI-02 no commits', async () => {
    await using scene = await makeScene();
    const dir = path.join(scene.root, 'empty');
    execFileSync('git', ['init', '--quiet', dir], { env: scene.env });
    expectRefusal(await scene.gyreIn(dir, 'run'), /no commit/i);
  });

  test('CLI-03 no loop, and a loop name that does not exist names the nearest', async () => {
    await using scene = await makeScene();
    scene.settle();
    expectRefusal(await scene.gyre('run'), /gyre init/);
    await scene.loop({ agent: scene.agent([[fix]]) });
    expectRefusal(await scene.gyre('run', 'fxi'), /fix/);
  });

  test('CLI-04 an unknown key names file, line, key and the nearest known one', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]) });
    const file = path.join(scene.repo, '.gyre', 'loops', 'fix.md');
    writeFileSync(file, '---\ndiscover:\n  - tests: ./check\nagnet: claude\nverify:\n  - run: ./check\n---\nx\n');
    scene.settle();
    expectRefusal(await scene.gyre('run'), /fix\.md:4/, /agnet/, /did you mean agent/);
  });

  test('CLI-05 an unknown agent, and one that is not installed', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: { use: 'cluade' } });
    expectRefusal(await scene.gyre('run'), /cluade/, /claude/);
    scene.env['PATH'] = path.dirname(process.execPath) + ':/usr/bin:/bin';
    await scene.loop({ agent: { use: 'claude' } });
    expectRefusal(await scene.gyre('run'), /claude/i, /install/i);
    expect(scene.git('for-each-ref', 'refs/gyre')).toBe('');
  });

  test('CLI-06 a test command that does not exist is a problem, not an empty discovery', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]), discover: [{ tests: './no-such-command' }], verify: [{ run: './check' }] });
    expectRefusal(await scene.gyre('run'), /no-such-command/);
    expect(scene.calls()).toHaveLength(0);
  });

  test('CLI-07 an empty discovery list, and a test command that runs no test', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]), discover: [] });
    expectRefusal(await scene.gyre('run'), /discover/);
    await scene.loop({ agent: scene.agent([[fix]]), discover: [{ tests: 'printf "TAP version 13\\n1..0\\n"' }] });
    expectRefusal(await scene.gyre('run'), /no test/i);
  });

  test('CLI-08 files that cannot be read: a loop that is a folder, one that is not UTF-8, a task list that is missing', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]), discover: [{ tasks: 'NO-SUCH.md' }] });
    expectRefusal(await scene.gyre('run'), /NO-SUCH\.md/);
    writeFileSync(path.join(scene.repo, '.gyre', 'loops', 'fix.md'), Buffer.from([0xff, 0xfe, 0x00, 0x41]));
    scene.settle();
    expectRefusal(await scene.gyre('run', 'fix'), /UTF-8/);
    mkdirSync(path.join(scene.repo, '.gyre', 'loops', 'folder.md'));
    scene.settle();
    expectRefusal(await scene.gyre('run', 'folder'), /folder\.md/);
  });

  test('CLI-09 an unknown template variable names the line of the loop file', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]) }, 'Repair {{ task.titel }}\n');
    const ran = await scene.gyre('run');
    expectRefusal(ran, /titel/, /fix\.md:\d+/);
    expect(scene.calls()).toHaveLength(0);
  });

  test('CLI-10 unknown commands, options and runs', async () => {
    await using scene = await makeScene();
    expectRefusal(await scene.gyre('rnu'), /run/);
    expectRefusal(await scene.gyre('run', '--frobnicate'), /frobnicate/);
    expectRefusal(await scene.gyre('show', 'r123'), /No run|no run/);
    expectRefusal(await scene.gyre('goal', 'x'), /--check/);
    expectRefusal(await scene.gyre('goal', 'x', '--check', 'true', '--land', 'pull-request'), /pull-request/);
  });

  test('CLI-11 init refuses to overwrite and says how to name another', async () => {
    await using scene = await makeScene({ checkoutStays: false });
    expectRefusal(await scene.gyre('init'), /--test/);
    expect(existsSync(path.join(scene.repo, '.gyre'))).toBe(false);
    const first = await scene.gyre('init', '--test', './check');
    expect(first.code, first.all).toBe(0);
    const file = path.join(scene.repo, '.gyre', 'loops', 'fix-tests.md');
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('land: { as: report }');
    expectRefusal(await scene.gyre('init', '--test', 'other'), /exists already/);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('CLI-12 a second engine on the same repository is told who holds it', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ sleep: 4_000 }, fix]]) });
    const first = scene.start('run');
    const ended = new Promise<number | null>((resolve) => first.once('exit', resolve));
    const { waitFor } = await import('../testkit/scene.ts');
    await waitFor('the agent is at work', () => scene.calls().length === 1);
    const second = await scene.gyre('run');
    expect(second.code).toBe(5);
    expect(second.stderr).toContain(String(first.pid));
    const status = await scene.gyre('status');
    expect(status.stdout).toContain(`process ${first.pid}`);
    expect(await ended).toBe(0);
  });

  test('CLI-13 a state home that cannot be made is one sentence', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]) });
    const file = path.join(scene.root, 'a file');
    writeFileSync(file, '');
    chmodSync(file, 0o600);
    const { XDG_STATE_HOME } = scene.env;
    scene.env['XDG_STATE_HOME'] = file;
    const ran = await scene.gyre('run');
    expect([2, 5]).toContain(ran.code);
    expect(ran.stderr).not.toMatch(/\n\s+at .*\.ts:/);
    expect(ran.stderr).toContain('a file');
    scene.env['XDG_STATE_HOME'] = XDG_STATE_HOME;
  });

  test('CLI-14 doctor looks and makes nothing, and says where state cannot be kept', async () => {
    await using scene = await makeScene();
    const state = path.join(scene.root, 'state');
    const before = await scene.json<readonly { what: string; state: string }[]>('doctor');
    expect(before.find(({ what }) => what === 'state')).toMatchObject({ state: 'ok' });
    expect(existsSync(state)).toBe(false);
    writeFileSync(state, 'a file in the place of a folder');
    const after = await scene.json<readonly { what: string; state: string; sentence: string }[]>('doctor');
    expect(after.find(({ what }) => what === 'state')).toMatchObject({ state: 'bad' });
  });
});
