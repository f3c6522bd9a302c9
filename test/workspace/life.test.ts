import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Defect, Fault } from '../../src/core/fault.ts';
import { commitAll, git, makeRepository, rightSum, useIsolatedHome, write, wrongSum } from '../testkit/repositories.ts';
import { setUp } from './setting.ts';

useIsolatedHome();

const codeOf = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no fault',
    (error: unknown) => (error instanceof Fault ? error.code : String(error)),
  );

const worktreesOf = (dir: string): number =>
  git(dir, 'worktree', 'list', '--porcelain')
    .split('\n')
    .filter((line) => line.startsWith('worktree ')).length;

test('WTR-05 removal does not follow a link to the dependencies of the main checkout', async () => {
  await using setting = await setUp(makeRepository({ files: { '.gitignore': 'node_modules/\n' } }));
  const { seed, workspaces, base } = setting;
  write(seed.dir, { 'node_modules/a.js': 'a', 'node_modules/b.js': 'b', 'node_modules/c/d.js': 'd' });
  setting.checkpoint();
  const { dir } = await workspaces.open('r1', base);
  symlinkSync(path.join(seed.dir, 'node_modules'), path.join(dir, 'node_modules'));
  write(dir, { 'src/sum.mjs': rightSum });
  const candidate = await workspaces.commit('r1', 1, base, 'm');
  expect(candidate.changed).toEqual(['src/sum.mjs']);
  expect(candidate.leftOut.map((one) => one.path)).toEqual(['node_modules']);
  expect(await workspaces.release('r1', [candidate.commit])).toEqual([]);
  expect(existsSync(dir)).toBe(false);
  const { dir: room } = await workspaces.cleanRoom('c', candidate.commit);
  symlinkSync(path.join(seed.dir, 'node_modules'), path.join(room, 'node_modules'));
  await workspaces.discardCleanRoom('c');
  expect(existsSync(room)).toBe(false);
  expect(readdirSync(path.join(seed.dir, 'node_modules'))).toEqual(['a.js', 'b.js', 'c']);
  expect(worktreesOf(seed.dir)).toBe(1);
});

test('WSP-20 folders that a package cache made read-only are removed all the same', async () => {
  await using setting = await setUp(makeRepository({ files: { '.gitignore': 'cache/\n' } }));
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'cache/a/b/c.txt': 'c' });
  chmodSync(path.join(dir, 'cache/a/b'), 0o555);
  chmodSync(path.join(dir, 'cache/a'), 0o555);
  expect(await workspaces.release('r1', [])).toEqual([]);
  expect(existsSync(dir)).toBe(false);
});

test('WTR-07 a workspace that is gone is a fault, never a command elsewhere; opening it again rebuilds the last candidate', async () => {
  // The state home inside of another repository: git would find that one when it looks upward.
  const seed = makeRepository();
  mkdirSync(seed.stateRoot);
  git(seed.stateRoot, 'init', '-q');
  await using setting = await setUp(seed);
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'half.txt': 'half\n' });
  const own = commitAll(dir, 'half');
  write(dir, { 'src/sum.mjs': rightSum });
  const first = await workspaces.commit('r1', 1, base, 'm');
  rmSync(dir, { recursive: true });
  expect(await codeOf(workspaces.commit('r1', 2, base, 'm'))).toBe('WORKSPACE_MISSING');
  expect(await workspaces.open('r1', base)).toEqual({ dir });
  expect(readFileSync(path.join(dir, 'src/sum.mjs'), 'utf8')).toBe(rightSum);
  expect(git(dir, 'rev-parse', 'HEAD')).toBe(own);
  expect((await workspaces.commit('r1', 2, base, 'm')).tree).toBe(first.tree);
  expect(worktreesOf(seed.dir)).toBe(2);
});

test('WTR-07 a workspace whose link is gone or points elsewhere is not used, and its files are put aside, not deleted', async () => {
  const seed = makeRepository();
  mkdirSync(seed.stateRoot);
  git(seed.stateRoot, 'init', '-q');
  await using setting = await setUp(seed);
  const { workspaces, base, stateHome } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'work.txt': 'work\n' });
  const link = path.join(dir, '.git');
  for (const broken of [`gitdir: ${path.join(seed.dir, '.git')}\n`, 'nonsense\n', '']) {
    rmSync(link, { recursive: true });
    if (broken !== '') writeFileSync(link, broken);
    expect(await codeOf(workspaces.commit('r1', 1, base, 'm'))).toBe('WORKSPACE_MISSING');
    expect(await codeOf(workspaces.release('r1', []))).toBe('WORKSPACE_MISSING');
    expect(await codeOf(workspaces.free('r1'))).toBe('WORKSPACE_MISSING');
  }
  expect((await workspaces.list([])).map((info) => [info.run, info.base, ...info.holds])).toEqual([['r1', base, 'uncommitted-changes']]);
  await workspaces.open('r1', base);
  expect(existsSync(path.join(dir, 'work.txt'))).toBe(false);
  const lost = path.join(stateHome, 'lost', 'r1');
  expect(readFileSync(path.join(lost, readdirSync(lost)[0] ?? '', 'work.txt'), 'utf8')).toBe('work\n');
  expect((await workspaces.list([])).map((info) => [info.run, path.dirname(info.dir) === lost, ...info.holds])).toEqual([
    ['r1', false],
    ['r1', true, 'uncommitted-changes'],
  ]);
});

test('WTR-09 release and list keep what is dirty or has an unlanded commit, and say why; what is unchanged or landed goes', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base } = setting;
  const dirs = new Map<string, string>();
  for (const run of ['clean', 'dirty', 'committed', 'landed', 'ignored']) dirs.set(run, (await workspaces.open(run, base)).dir);
  write(dirs.get('dirty') ?? '', { 'x.txt': 'x' });
  write(dirs.get('committed') ?? '', { 'x.txt': 'x' });
  commitAll(dirs.get('committed') ?? '', 'x');
  write(dirs.get('landed') ?? '', { 'src/sum.mjs': rightSum });
  const landed = await workspaces.commit('landed', 1, base, 'm');
  const listed = await workspaces.list(['clean']);
  expect(listed.map((info) => [info.run, ...info.holds])).toEqual([
    ['clean', 'live-run'],
    ['committed', 'unlanded-commits'],
    ['dirty', 'uncommitted-changes'],
    ['ignored'],
    ['landed', 'uncommitted-changes'],
  ]);
  expect(listed.every((info) => info.bytes > 0 && info.createdAt > 1e12 && info.base === base)).toBe(true);
  expect(await workspaces.release('clean', [])).toEqual([]);
  expect(await workspaces.release('dirty', [landed.commit])).toEqual(['uncommitted-changes']);
  expect(await workspaces.release('committed', [landed.commit])).toEqual(['unlanded-commits']);
  expect(await workspaces.release('landed', [landed.commit])).toEqual([]);
  expect(await workspaces.release('ignored', [])).toEqual([]);
  expect((await workspaces.list([])).map((info) => info.run)).toEqual(['committed', 'dirty']);
  expect(worktreesOf(seed.dir)).toBe(3);
  expect(await workspaces.release('dirty', [])).toEqual(['uncommitted-changes']);
  expect(await workspaces.release('never-opened', [])).toEqual([]);
});

test('WTR-09 work committed after the landed candidate keeps the workspace', async () => {
  await using setting = await setUp(makeRepository());
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'src/sum.mjs': rightSum });
  const { commit } = await workspaces.commit('r1', 1, base, 'm');
  write(dir, { 'after.txt': 'after\n' });
  expect(await workspaces.release('r1', [commit])).toEqual(['uncommitted-changes']);
  commitAll(dir, 'after');
  expect(await workspaces.release('r1', [commit])).toEqual(['unlanded-commits']);
});

test('WTR-09 a commit that was made and undone is not lost with the workspace', async () => {
  await using setting = await setUp(makeRepository());
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'x.txt': 'x' });
  commitAll(dir, 'x');
  git(dir, 'reset', '-q', '--hard', base);
  expect(await workspaces.release('r1', [])).toEqual(['unlanded-commits']);
});

test('WTR-09 a freed workspace leaves one ref that holds its files, its commits and what was left behind', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'left.txt': 'left' });
  const left = commitAll(dir, 'left behind');
  git(dir, 'checkout', '-q', '--detach', base);
  write(dir, { 'own.txt': 'own' });
  const own = commitAll(dir, 'own');
  write(dir, { 'loose.txt': 'loose', 'big.bin': '' });
  truncateSync(path.join(dir, 'big.bin'), 11 * 1024 * 1024);
  const { savedAs } = await workspaces.free('r1');
  expect(savedAs).toBe('refs/gyre/saved/r1');
  expect(git(seed.dir, 'ls-tree', '-r', '--name-only', 'refs/gyre/saved/r1').split('\n')).toEqual([
    'README.md',
    'big.bin',
    'check',
    'loose.txt',
    'own.txt',
    'src/sum.mjs',
  ]);
  for (const commit of [left, own]) expect(git(seed.dir, 'merge-base', '--is-ancestor', commit, 'refs/gyre/saved/r1')).toBe('');
  expect(existsSync(dir)).toBe(false);
  expect(worktreesOf(seed.dir)).toBe(1);
  await workspaces.open('r2', base);
  expect(await workspaces.free('r2')).toEqual({ savedAs: undefined });
  expect(await workspaces.free('r2')).toEqual({ savedAs: undefined });
});

test('WTR-09 a workspace with a repository of its own inside is not freed before that is moved away', async () => {
  await using setting = await setUp(makeRepository());
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  mkdirSync(path.join(dir, 'inner'));
  git(path.join(dir, 'inner'), 'init', '-q');
  write(path.join(dir, 'inner'), { x: 'x' });
  commitAll(path.join(dir, 'inner'), 'x');
  expect(await codeOf(workspaces.free('r1'))).toBe('WORKSPACE_HOLDS_REPOSITORY');
  expect(lstatSync(path.join(dir, 'inner')).isDirectory()).toBe(true);
});

test('WTR-09 only our own stale worktrees are forgotten, not those of the user', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base } = setting;
  git(seed.dir, 'worktree', 'add', '-q', '--detach', path.join(seed.home, 'on a stick'));
  rmSync(path.join(seed.home, 'on a stick'), { recursive: true });
  const { dir } = await workspaces.open('r1', base);
  rmSync(dir, { recursive: true });
  expect(await workspaces.release('r1', [])).toEqual([]);
  const left = git(seed.dir, 'worktree', 'list', '--porcelain');
  expect(left).toContain('on a stick');
  expect(left).not.toContain(dir);
});

test.each([
  ['stands locked', () => undefined],
  ['has lost its folder already', (dir: string) => rmSync(dir, { recursive: true })],
  ['has a folder without a link', (dir: string) => rmSync(path.join(dir, '.git'))],
  [
    'is known to git by its name alone',
    (dir: string, admin: string) => {
      rmSync(dir, { recursive: true });
      for (const name of readdirSync(admin)) if (name !== 'locked') rmSync(path.join(admin, name), { recursive: true });
    },
  ],
])('L5 P2 a worktree that was being made when the engine died and %s is made anew', async (_what, damage) => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base, stateHome } = setting;
  const dir = path.join(stateHome, 'worktrees', 'r1');
  mkdirSync(path.dirname(dir), { recursive: true });
  git(seed.dir, 'worktree', 'add', '-q', '--detach', '--no-checkout', dir, base);
  const admin = git(dir, 'rev-parse', '--absolute-git-dir');
  writeFileSync(path.join(admin, 'locked'), 'initializing');
  damage(dir, admin);
  expect(await workspaces.open('r1', base)).toEqual({ dir });
  expect(readFileSync(path.join(dir, 'src/sum.mjs'), 'utf8')).toBe(wrongSum);
  expect((await workspaces.commit('r1', 1, base, 'm')).changed).toEqual([]);
  expect(worktreesOf(seed.dir)).toBe(2);
});

test('GIT-13 a run name that is no plain name never becomes a folder or a ref', async () => {
  await using setting = await setUp(makeRepository());
  for (const name of ['', '-rf', '../x', 'a/b', 'a..b', 'x.lock', 'ü'])
    await expect(setting.workspaces.open(name, setting.base)).rejects.toBeInstanceOf(Defect);
});
