import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitSha } from '../../src/core/ids.ts';
import { createCheckRunner } from '../../src/verify/index.ts';
import { check, git, makeWorld, readTap, write } from './support.ts';

const throwingReader = (): never => {
  throw new Error('reader bug');
};

describe('running a check', () => {
  test('WTR-07 a clean room that vanishes means the check does not run, here or elsewhere', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    const checks = createCheckRunner({
      ...world,
      env: process.env,
      readReport: readTap,
      workspaces: {
        ...world.workspaces,
        async cleanRoom(...args) {
          const room = await world.workspaces.cleanRoom(...args);
          await rm(room.dir, { recursive: true });
          return room;
        },
      },
    });
    const request = {
      key: 'k',
      check: check('true'),
      commit: world.base,
      pin: undefined,
      prefix: '',
      setup: undefined,
      setupTimeoutMs: 1_000,
    };
    const seen = await checks.observe({ ...request, run: world.processes.run });
    expect(seen).toMatchObject({ end: 'not-started', exitCode: null });
    expect(seen.problem).toContain('is gone');
    expect(world.processes.keys).toEqual([]);
  });

  test('WTR-07 a set-up that removes the room means the check does not run', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    const seen = await world.observe({ check: check('true'), setup: 'rm -rf "$PWD"' });
    expect(seen.end).toBe('not-started');
    expect(world.processes.keys).toEqual(['k/setup']);
  });

  test('VRD-20 a missing folder, and one that is a link out of the checkout, are not entered', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    expect(await world.observe({ check: check('true'), prefix: 'no/such' })).toMatchObject({ end: 'not-started' });
    await symlink('/tmp', path.join(world.repo, 'out'));
    await git(world.repo, 'add', '-A');
    await git(world.repo, 'commit', '-q', '-m', 'link');
    const commit = commitSha((await git(world.repo, 'rev-parse', 'HEAD')).trim());
    const seen = await world.observe({ check: check('true'), prefix: 'out', commit });
    expect(seen).toMatchObject({ end: 'not-started', problem: expect.stringContaining('leads out of the checkout') });
    const pin = { from: world.base, paths: [], patches: [{ path: 'out/package.json', text: '{}' }] };
    expect(await world.observe({ check: check('true'), commit, pin })).toMatchObject({ end: 'not-started' });
    expect(world.processes.keys).toEqual([]);
  });

  test('VRD-21 the check runs in its folder, with output kept whole and cut in the observation', async () => {
    await using world = await makeWorld({ 'päckage one/x': 'x' });
    const seen = await world.observe({
      check: check("ls; seq 1 20000; echo bad >&2; printf '\\033[31mred\\033[0m'; exit 3"),
      prefix: 'päckage one',
    });
    expect(seen).toMatchObject({ end: 'ran', exitCode: 3, problem: '', report: { read: 'no-format' } });
    expect(seen.output.startsWith('x\n1\n2\n')).toBe(true);
    expect(seen.output).toContain('characters cut by Gyre');
    expect(seen.output.endsWith('redbad\n')).toBe(true);
    expect((await world.evidence.get(seen.outputHash)).toString('utf8')).toContain('\n10000\n');
    expect(await world.leftovers()).toEqual([]);
  });

  test('VRD-22 a pipe does not hide a failure where bash is found, and its absence is said', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    expect(await world.observe({ check: check('false | cat') })).toMatchObject({ exitCode: 1, problem: '' });
    const bin = path.join(world.folder, 'bin');
    await mkdir(bin);
    await symlink('/bin/cat', path.join(bin, 'cat'));
    const plain = await world.observe({ check: check('false | cat', { env: { PATH: bin } }) });
    expect(plain).toMatchObject({ end: 'ran', exitCode: 0, problem: expect.stringContaining('without pipefail') });
  });

  test('L2 a time-out, a kill, a program that cannot start and a failed set-up are no runs', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    expect(await world.observe({ check: check('sleep 60', { timeoutMs: 200 }) })).toMatchObject({
      end: 'timed-out',
      problem: expect.stringContaining('200 ms'),
    });
    expect(await world.observe({ check: check('kill -9 $$') })).toMatchObject({ end: 'killed', exitCode: null });
    const setup = await world.observe({ check: check('true'), setup: 'echo no registry; exit 4' });
    expect(setup).toMatchObject({ end: 'setup-failed', exitCode: 4, output: 'no registry\n' });
    expect(await world.observe({ check: check('test -f made'), setup: 'touch made' })).toMatchObject({ end: 'ran', exitCode: 0 });
    const lost: typeof world.processes.run = async (key, spec) => ({ ...(await world.processes.run(key, spec)), end: 'lost' });
    expect(await world.observe({ check: check('true'), run: lost })).toMatchObject({ end: 'killed' });
    expect(await world.leftovers()).toEqual([]);
  });

  test('VER-09 variables of the engine, of git and of npm do not reach the check, and TMPDIR is its own', async () => {
    const nonsense = {
      GIT_DIR: '/nonsense',
      GIT_INDEX_FILE: '/nonsense',
      GYRE_RUN: 'r',
      XDG_STATE_HOME: '/nonsense',
      NODE_OPTIONS: '--nonsense',
      NODE_TEST_CONTEXT: 'child-v8',
      npm_config_x: '1',
      GITHUB_TOKEN: 'secret',
      AWS_SECRET_ACCESS_KEY: 'secret',
    };
    await using world = await makeWorld({ 'a.txt': 'a' }, { ...process.env, ...nonsense });
    const names = Object.keys(nonsense).join('|');
    const command = `! env | grep -E '^(${names})=' && git status && test -d "$TMPDIR" && touch "$TMPDIR/x" && echo "$CI $OWN"`;
    const seen = await world.observe({ check: check(command, { env: { OWN: 'yes' } }) });
    expect(seen.output).toContain('true yes');
    expect(seen.exitCode).toBe(0);
    expect(await world.leftovers()).toEqual([]);
  });
});

describe('report files', () => {
  const report = { format: 'tap', file: 'out/report.tap' };
  const tap = 'TAP version 13\nok 1 - a\n1..1\n';

  test('VRD-23 a report file is read from the clean room', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    const seen = await world.observe({ check: check(`mkdir out; printf '${tap.replaceAll('\n', '\\n')}' > out/report.tap`, { report }) });
    expect(seen.report).toMatchObject({ read: 'yes', tests: [{ id: 'a', outcome: 'passed' }] });
  });

  test('L2 a committed report is not one of this run, and a missing one is broken', async () => {
    await using world = await makeWorld({ 'out/report.tap': tap });
    expect((await world.observe({ check: check('true', { report }) })).report).toMatchObject({ read: 'broken', format: 'tap' });
  });

  test('L2 a report file outside the clean room is not read', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    const outside = path.join(world.folder, 'outside.tap');
    await writeFile(outside, tap);
    const seen = await world.observe({ check: check(`mkdir out; ln -s '${outside}' out/report.tap`, { report }) });
    expect(seen.report).toMatchObject({ read: 'broken', why: expect.stringContaining('outside') });
    const named = await world.observe({ check: check('true', { report: { format: 'tap', file: outside } }) });
    expect(named.report.read).toBe('broken');
    expect(await readFile(outside, 'utf8')).toBe(tap);
  });

  test('L2 a report out of a stream that was cut is broken', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    const cut: typeof world.processes.run = async (key, spec) => {
      const result = await world.processes.run(key, spec);
      return { ...result, stdout: { ...result.stdout, cut: true, bytesSeen: result.stdout.bytesSeen + 9 } };
    };
    const seen = await world.observe({ check: check(`printf '${tap.replaceAll('\n', '\\n')}'`), run: cut });
    expect(seen.report).toMatchObject({ read: 'broken', why: expect.stringContaining('9 bytes') });
  });

  test('L2 a reader that throws makes a broken report, not a crash', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    const checks = createCheckRunner({ ...world, env: process.env, readReport: throwingReader });
    const request = {
      key: 'k',
      check: check('true'),
      commit: world.base,
      pin: undefined,
      prefix: '',
      setup: undefined,
      setupTimeoutMs: 1_000,
    };
    expect((await checks.observe({ ...request, run: world.processes.run })).report.read).toBe('broken');
  });
});

describe('pins', () => {
  test('VRD-24 patches replace the file, also where the candidate made it a link', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    const outside = path.join(world.folder, 'outside.json');
    await writeFile(outside, 'mine');
    await symlink(outside, path.join(world.repo, 'package.json'));
    await git(world.repo, 'add', '-A');
    await git(world.repo, 'commit', '-q', '-m', 'link');
    const commit = commitSha((await git(world.repo, 'rev-parse', 'HEAD')).trim());
    const pin = { from: world.base, paths: [], patches: [{ path: 'package.json', text: 'patched' }] };
    expect((await world.observe({ check: check('cat package.json'), commit, pin })).output).toBe('patched');
    expect(await readFile(outside, 'utf8')).toBe('mine');
  });
});

describe('baselines', () => {
  const shared = { prefix: '', setup: undefined, setupTimeoutMs: 1_000 };

  test('VRD-25 a baseline is paid once, grows when more is wanted, and is made anew when damaged', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    const baseline = (key: string, times: number, one = check('cat a.txt')) =>
      world.checks.baseline({ ...shared, key, check: one, commit: world.base, times, run: world.processes.run });
    const first = await baseline('one', 2);
    expect(first.runs.map((run) => run.output)).toEqual(['a', 'a']);
    expect(await baseline('two', 1)).toEqual(first);
    expect(world.processes.keys).toEqual(['one/1/check', 'one/2/check']);
    expect((await baseline('three', 3)).runs).toHaveLength(3);
    expect(world.processes.keys.slice(2)).toEqual(['three/3/check']);

    await baseline('env', 1, check('cat a.txt', { env: { X: '1' } }));
    expect(world.processes.keys.at(-1)).toBe('env/1/check');

    const folder = path.join(world.stateHome, 'baselines');
    for (const name of await readdir(folder)) await writeFile(path.join(folder, name), '{"format":"gyre.base');
    await baseline('four', 1);
    expect(world.processes.keys.at(-1)).toBe('four/1/check');
    expect((await readdir(folder)).filter((name) => name.startsWith('.tmp'))).toEqual([]);
  });

  test('VRD-26 two callers at once pay once', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    const ask = (key: string) =>
      world.checks.baseline({ ...shared, key, check: check('true'), commit: world.base, times: 2, run: world.processes.run });
    const [a, b] = await Promise.all([ask('a'), ask('b')]);
    expect(a).toEqual(b);
    expect(world.processes.keys).toHaveLength(2);
  });

  test('VRD-28 a base run that was lost takes no good one along', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    const secondIsLost: typeof world.processes.run = async (key, spec) => {
      const result = await world.processes.run(key, spec);
      return key.startsWith('a/2') ? { ...result, end: 'lost' } : result;
    };
    const ask = { ...shared, check: check('true'), commit: world.base, times: 2 };
    const first = await world.checks.baseline({ ...ask, key: 'a', run: secondIsLost });
    expect(first.runs.map((run) => run.end)).toEqual(['ran', 'killed']);
    const second = await world.checks.baseline({ ...ask, key: 'b', run: world.processes.run });
    expect(second.runs.map((run) => run.end)).toEqual(['ran', 'ran']);
    expect(world.processes.keys).toEqual(['a/1/check', 'a/2/check', 'b/2/check']);
  });

  test('L2 a base run that timed out is shown and not kept', async () => {
    await using world = await makeWorld({ 'a.txt': 'a' });
    const slow = { ...shared, check: check('sleep 60', { timeoutMs: 100 }), commit: world.base, times: 1, run: world.processes.run };
    expect((await world.checks.baseline({ ...slow, key: 'a' })).runs).toMatchObject([{ end: 'timed-out' }]);
    await world.checks.baseline({ ...slow, key: 'b' });
    expect(world.processes.keys).toEqual(['a/1/check', 'b/1/check']);
  });
});

test('VRD-27 files of support keep their mode, so that ./check can be run', async () => {
  await using world = await makeWorld({ check: '#!/bin/sh\nexit 0\n' });
  await chmod(path.join(world.repo, 'check'), 0o755);
  await write(world.repo, {});
  expect((await world.observe({ check: check('./check') })).exitCode).toBe(0);
});
