import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { commitSha } from '../../src/core/ids.ts';
import {
  addSubmodule,
  commitAll,
  git,
  makeRepository,
  rightSum,
  snapshotCheckout,
  useIsolatedHome,
  write,
} from '../testkit/repositories.ts';
import { setUp } from './setting.ts';

useIsolatedHome();

const withSubmodule = async () => {
  const seed = makeRepository();
  const { library, base } = addSubmodule(seed);
  // The address is gone: whatever is filled comes from the user's own copy.
  rmSync(library, { recursive: true });
  return setUp(seed, { base });
};

test('GIT-07 submodules are filled from the user, in the workspace and in the clean room, offline; removal works', async () => {
  await using setting = await withSubmodule();
  const { seed, workspaces, base } = setting;
  const before = snapshotCheckout(path.join(seed.dir, 'deps/lib'));
  const { dir } = await workspaces.open('r1', base);
  expect(readFileSync(path.join(dir, 'deps/lib/value.txt'), 'utf8')).toBe('from the library\n');
  expect(git(dir, 'status', '--porcelain')).toBe('');
  expect(git(dir, 'submodule', 'status')).toMatch(/^ [0-9a-f]{40} deps\/lib/);
  write(dir, { 'src/sum.mjs': rightSum });
  const candidate = await workspaces.commit('r1', 1, base, 'm');
  expect(candidate).toMatchObject({ changed: ['src/sum.mjs'], notes: [], leftOut: [] });
  const room = await workspaces.cleanRoom('c', candidate.commit);
  expect(readFileSync(path.join(room.dir, 'deps/lib/value.txt'), 'utf8')).toBe('from the library\n');
  expect(git(path.join(room.dir, 'deps/lib'), 'remote')).toBe('');
  await workspaces.discardCleanRoom('c');
  expect(await workspaces.release('r1', [candidate.commit])).toEqual([]);
  expect(existsSync(dir)).toBe(false);
  expect(git(seed.dir, 'worktree', 'list').split('\n')).toHaveLength(1);
  expect(snapshotCheckout(path.join(seed.dir, 'deps/lib'))).toEqual(before);
});

test('GIT-07 a change left inside a submodule is reported, holds the workspace, and is saved when that is freed', async () => {
  await using setting = await withSubmodule();
  const { seed, workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'deps/lib/value.txt': 'changed\n', 'deps/lib/new.txt': 'new\n', 'src/sum.mjs': rightSum });
  const candidate = await workspaces.commit('r1', 1, base, 'm');
  expect(candidate.changed).toEqual(['src/sum.mjs']);
  expect(candidate.notes).toEqual(['Submodule deps/lib holds changes that are not part of the candidate.']);
  expect(await workspaces.release('r1', [candidate.commit])).toEqual(['submodule-changes']);
  expect((await workspaces.list([]))[0]?.holds).toContain('submodule-changes');
  expect(await workspaces.free('r1')).toEqual({ savedAs: 'refs/gyre/saved/r1' });
  expect(git(path.join(seed.dir, 'deps/lib'), 'show', 'refs/gyre/saved/r1:value.txt')).toBe('changed');
  expect(git(path.join(seed.dir, 'deps/lib'), 'show', 'refs/gyre/saved/r1:new.txt')).toBe('new');
  expect(existsSync(dir)).toBe(false);
});

test('GIT-07 a commit the agent made inside a submodule is not named by a candidate that nobody could check out', async () => {
  await using setting = await withSubmodule();
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'deps/lib/value.txt': 'changed\n' });
  commitAll(path.join(dir, 'deps/lib'), 'inside');
  git(dir, 'add', '-A');
  git(dir, 'commit', '-q', '-m', 'bump');
  const candidate = await workspaces.commit('r1', 1, base, 'm');
  expect(candidate.changed).toEqual([]);
  expect(candidate.leftOut.map((one) => one.path)).toEqual(['deps/lib']);
  await workspaces.cleanRoom('c', candidate.commit);
  expect(await workspaces.release('r1', [])).toContain('submodule-changes');
});

test('GIT-07 a submodule moved to another commit that the user has is part of the candidate', async () => {
  const seed = makeRepository();
  const { base } = addSubmodule(seed);
  const inner = path.join(seed.dir, 'deps/lib');
  write(inner, { 'value.txt': 'second\n' });
  const second = commitAll(inner, 'second');
  git(inner, 'checkout', '-q', '--detach', 'HEAD~1');
  await using setting = await setUp(seed, { base });
  const { workspaces } = setting;
  const { dir } = await workspaces.open('r1', commitSha(base));
  git(path.join(dir, 'deps/lib'), 'checkout', '-q', '--detach', second);
  const candidate = await workspaces.commit('r1', 1, commitSha(base), 'm');
  expect(candidate.changed).toEqual(['deps/lib']);
  const room = await workspaces.cleanRoom('c', candidate.commit);
  expect(readFileSync(path.join(room.dir, 'deps/lib/value.txt'), 'utf8')).toBe('second\n');
});

test('GIT-07 nested submodules are filled; one that the user has not filled stays empty', async () => {
  const seed = makeRepository();
  const outer = makeRepository({ name: 'outer' });
  addSubmodule(outer);
  git(seed.dir, 'submodule', '--quiet', 'add', outer.dir, 'deps/outer');
  const base = commitAll(seed.dir, 'nested');
  git(seed.dir, 'submodule', '--quiet', 'update', '--init', '--recursive');
  await using setting = await setUp(seed, { base });
  const { workspaces } = setting;
  const { dir } = await workspaces.open('r1', commitSha(base));
  expect(existsSync(path.join(dir, 'deps/outer/deps/lib/value.txt'))).toBe(true);
  write(dir, { 'deps/outer/deps/lib/value.txt': 'changed' });
  expect((await workspaces.commit('r1', 1, commitSha(base), 'm')).notes.join()).toContain('deps/outer/deps/lib');
  git(seed.dir, 'submodule', '--quiet', 'deinit', '-f', '--all');
  rmSync(path.join(seed.dir, '.git/modules'), { recursive: true });
  setting.checkpoint();
  const room = await workspaces.cleanRoom('c', commitSha(base));
  expect(existsSync(path.join(room.dir, 'deps/outer/README.md'))).toBe(false);
  rmSync(outer.home, { recursive: true });
});
