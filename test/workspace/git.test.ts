import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Fault } from '../../src/core/fault.ts';
import { createGit, findRepository, resolveBase } from '../../src/workspace/index.ts';
import { git, makeRepository, remove, useIsolatedHome, write, type TestRepository } from '../testkit/repositories.ts';
import { setUp } from './setting.ts';

useIsolatedHome();

const set = (values: Readonly<Record<string, string>>): (() => void) => {
  for (const [name, value] of Object.entries(values)) process.env[name] = value;
  return () => {
    for (const name of Object.keys(values)) delete process.env[name];
  };
};
let restore = (): void => {};
afterEach(() => {
  restore();
  restore = () => {};
});

const faultOf = async (promise: Promise<unknown>): Promise<Fault> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('VER-09 variables of git that are left over in the environment reach no call', async () => {
  const seed: TestRepository = makeRepository();
  restore = set({
    GIT_DIR: '/nonsense',
    GIT_INDEX_FILE: '/nonsense/index',
    GIT_WORK_TREE: '/nonsense',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'alias.env',
    GIT_CONFIG_VALUE_0: '!env',
  });
  const repository = await findRepository(seed.dir);
  expect(repository.root).toBe(seed.dir);
  expect(await resolveBase(repository, undefined)).toBe(seed.base);
  const seen = await createGit(seed.dir).line(['-c', 'alias.show-env=!env', 'show-env']);
  expect(seen).not.toContain('nonsense');
  expect(seen).toContain('GIT_TERMINAL_PROMPT=0');
  restore();
  remove(seed.home);
});

test('WSP-03 a failing call names the command, the exit code and the reason; an expected code is an answer', async () => {
  const seed = makeRepository();
  const fault = await faultOf(createGit(seed.dir).run(['rev-parse', '--verify', 'no-such-thing']));
  expect(fault.code).toBe('GIT_FAILED');
  expect(fault.message).toMatch(/^git rev-parse --verify no-such-thing ended with 128: fatal: /);
  expect(fault.data['exitCode']).toBe(128);
  expect((await createGit(seed.dir).run(['rev-parse', '-q', '--verify', 'no-such-thing'], { allow: [1] })).code).toBe(1);
  remove(seed.home);
});

test('WSP-04 a call at its time limit is ended with every process of its group', async () => {
  const seed = makeRepository();
  const pidFile = path.join(seed.home, 'pid');
  const script = `!sh -c 'sleep 600 & echo $! > "${pidFile}"; wait'`;
  const fault = await faultOf(createGit(seed.dir).run(['hang'], { settings: [`alias.hang=${script}`], limitMs: 1_500 }));
  expect(fault.code).toBe('GIT_TIMED_OUT');
  const pid = Number(readFileSync(pidFile, 'utf8'));
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  remove(seed.home);
});

test('WSP-05 output above its bound ends the call', async () => {
  const seed = makeRepository();
  const fault = await faultOf(createGit(seed.dir).run(['flood'], { settings: ['alias.flood=!yes'], outputBytes: 100_000 }));
  expect(fault.code).toBe('GIT_OUTPUT_TOO_LARGE');
  remove(seed.home);
});

test('WTR-11 six workspaces are made while the configuration, a ref and an index lock are held for three seconds', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base } = setting;
  const locks = ['config.lock', 'refs/gyre/runs/r1/base.lock', 'packed-refs.lock'].map((name) => path.join(seed.dir, '.git', name));
  write(path.join(seed.dir, '.git'), { 'config.lock': '', 'refs/gyre/runs/r1/base.lock': '', 'packed-refs.lock': '' });
  const timer = setTimeout(() => locks.forEach((lock) => rmSync(lock, { force: true })), 3_000);
  const runs = ['r1', 'r2', 'r3', 'r4', 'r5', 'r6'];
  const opened = await Promise.all(runs.map((run) => workspaces.open(run, base)));
  clearTimeout(timer);
  locks.forEach((lock) => rmSync(lock, { force: true }));
  expect(opened.map(({ dir }) => existsSync(path.join(dir, 'src/sum.mjs')))).toEqual([true, true, true, true, true, true]);
  expect(git(seed.dir, 'branch', '--list').split('\n')).toHaveLength(1);
});

test('WTR-11 a lock that stays is named when it was waited for as long as it may be', async () => {
  const seed = makeRepository();
  writeFileSync(path.join(seed.dir, '.git', 'refs', 'heads', 'x.lock'), '');
  const fault = await faultOf(createGit(seed.dir).run(['update-ref', 'refs/heads/x', seed.base], { lockWaitMs: 300 }));
  expect(fault.code).toBe('GIT_LOCKED');
  expect(fault.message).toContain('for 0.3 s');
  expect(fault.message).toContain('x.lock');
  expect(fault.hint).toContain('lock file');
  remove(seed.home);
});

test('WSP-06 hooks of the repository never run', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base } = setting;
  const trace = path.join(seed.home, 'hook-ran');
  for (const name of ['post-checkout', 'pre-commit', 'reference-transaction', 'post-index-change', 'prepare-commit-msg']) {
    const hook = path.join(seed.dir, '.git', 'hooks', name);
    writeFileSync(hook, `#!/bin/sh\necho ${name} >> "${trace}"\n`);
    chmodSync(hook, 0o755);
  }
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'new.txt': 'new' });
  const candidate = await workspaces.commit('r1', 1, base, 'm');
  await workspaces.cleanRoom('c1', candidate.commit, { from: base, paths: ['README.md'] });
  expect(existsSync(trace)).toBe(false);
});
