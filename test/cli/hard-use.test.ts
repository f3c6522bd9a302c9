import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { fileAt, gyreBranches, lastRun } from '../field/support.ts';
import { fix, makeScene, waitFor, type Scene } from '../testkit/scene.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

const journalOf = (scene: Scene): string => {
  const home = path.join(scene.root, 'state', 'gyre');
  const [name] = readdirSync(home);
  return path.join(home, name ?? '', 'journal.sqlite');
};

describe('hard use of the command line', () => {
  test('CLI-30 a run whose reader went away after one line goes on to its end', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ sleep: 300 }, fix]]) });
    const piped = `"$0" --disable-warning=ExperimentalWarning "$1" run 2>"$2" | head -n 1`;
    const child = spawn('bash', ['-c', piped, process.execPath, main, path.join(scene.root, 'stderr')], {
      cwd: scene.repo,
      env: scene.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.resume();
    await once(child, 'close');
    expect((await lastRun(scene)).exit?.exit).toBe('goal-met');
    expect(fileAt(scene, gyreBranches(scene)[0] ?? '', 'calc.mjs')).toContain('a + b');
  });

  test('L8 CLI-31 a session cut off by a stop has unknown cost, and still has after a retry in a workspace that was freed', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[{ sleep: 60_000 }], [fix, { event: { usage: { input: 1 }, cost_usd: 0.5 } }]]) });
    const engine = scene.start('run');
    const ended = once(engine, 'close');
    await waitFor('the agent is at work', () => scene.calls().length === 1);
    const { run } = await lastRun(scene);
    expect((await scene.gyre('stop', run)).code).toBe(0);
    expect((await ended)[0]).toBe(4);
    expect((await scene.gyre('status')).stdout).toContain('unknown cost');
    expect((await scene.gyre('show', run)).stdout).toMatch(/spend +unknown cost/);

    expect((await scene.gyre('workspaces', '--free', run)).code).toBe(0);
    const again = await scene.gyre('retry', run);
    expect(again.code, again.all).toBe(0);
    expect((await scene.gyre('show', run)).stdout).toMatch(/spend +unknown cost/);
  });

  test('CLI-32 a retry that ends in a fault says so', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]), workspace: { setup: 'case "$PWD" in */worktrees/*) exit 3;; esac' } });
    const first = await scene.gyre('run');
    expect(first.code, first.all).not.toBe(0);
    const again = await scene.gyre('retry', (await lastRun(scene)).run);
    expect(again.code).toBe(5);
    expect(again.stdout).toContain('The set-up command');
  });

  test('CLI-34 with --json every command prints one document, also when it fails', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]) });
    for (const args of [
      ['show', 'r1'],
      ['stop', 'r1'],
      ['journal', 'verify'],
      ['run', 'nope'],
      ['run', '--frobnicate'],
    ]) {
      const ran = await scene.gyre(...args, '--json');
      expect(ran.code, ran.all).toBe(2);
      const { error } = JSON.parse(ran.stdout) as { error: { message: string; exitCode: number } };
      expect(error.exitCode).toBe(2);
      expect(ran.stderr).toContain(error.message);
    }
  });

  test('CLI-33 doctor tells of a damaged journal beside everything else', async () => {
    await using scene = await makeScene();
    await scene.loop({ agent: scene.agent([[fix]]) });
    expect((await scene.gyre('run')).code).toBe(0);
    const file = journalOf(scene);
    const whole = readFileSync(file);
    writeFileSync(file, 'not a journal');
    const ran = await scene.gyre('doctor');
    expect(ran.code).toBe(2);
    expect(ran.stdout).toMatch(/bad +journal .*is damaged or not a journal/);
    expect(ran.stdout).toMatch(/ok +loop +fix/);
    writeFileSync(file, whole);
  });
});
