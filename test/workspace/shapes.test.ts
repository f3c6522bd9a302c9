import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { commitSha } from '../../src/core/ids.ts';
import { resolveBase } from '../../src/workspace/index.ts';
import {
  commitAll,
  git,
  makeDirty,
  makeRepository,
  rightSum,
  runIn,
  snapshotCheckout,
  useIsolatedHome,
  write,
  type TestRepository,
} from '../testkit/repositories.ts';
import { setUp, type Setting } from './setting.ts';

const { home } = useIsolatedHome();

/** Fix, commit, check in a clean room, release: works, changes exactly one file, and leaves the checkout as it was. */
const wholeWay = async (setting: Setting, userGitWorks = true): Promise<void> => {
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'src/sum.mjs': rightSum });
  const candidate = await workspaces.commit('r1', 1, base, 'm');
  expect(candidate).toMatchObject({ changed: ['src/sum.mjs'], leftOut: [], notes: [] });
  const room = await workspaces.cleanRoom('c', candidate.commit, { from: base, paths: ['check'] });
  expect(runIn(room.dir, './check').output).toContain('2 passed, 0 failed');
  if (userGitWorks) expect(git(room.dir, 'status', '--porcelain')).toBe('');
  await workspaces.discardCleanRoom('c');
  expect(await workspaces.release('r1', [candidate.commit])).toEqual([]);
  expect(existsSync(dir)).toBe(false);
};

const cloned = (seed: TestRepository, ...args: readonly string[]): string => {
  const dir = path.join(seed.home, 'klon ü');
  git(seed.home, 'clone', '-q', ...args, `file://${seed.dir}`, dir);
  return dir;
};

test('WSP-30 detached HEAD, no remote, a default branch of another name, a dirty tree', async () => {
  const seed = makeRepository({ branch: 'stamm' });
  makeDirty(seed.dir);
  git(seed.dir, 'checkout', '-q', '--detach');
  await using setting = await setUp(seed);
  await wholeWay(setting);
});

test('WSP-31 a shallow clone', async () => {
  const seed = makeRepository();
  write(seed.dir, { 'two.txt': '2' });
  const base = commitAll(seed.dir, 'Two');
  const dir = cloned(seed, '--depth', '1');
  expect(git(dir, 'rev-list', '--count', 'HEAD')).toBe('1');
  await using setting = await setUp(seed, { cwd: dir, base });
  await wholeWay(setting);
});

test('WSP-32 a partial clone fetches what a clean room needs', async () => {
  const seed = makeRepository();
  git(seed.dir, 'config', 'uploadpack.allowFilter', 'true');
  git(seed.dir, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  const old = seed.base;
  write(seed.dir, { 'README.md': 'two' });
  const base = commitAll(seed.dir, 'Two');
  const dir = cloned(seed, '--filter=blob:none');
  await using setting = await setUp(seed, { cwd: dir, base });
  const room = await setting.workspaces.cleanRoom('old', commitSha(old));
  expect(readFileSync(path.join(room.dir, 'README.md'), 'utf8')).toBe('# Seed\n');
  await wholeWay(setting);
});

test('WSP-33 a bare repository', async () => {
  const seed = makeRepository({ remote: true });
  await using setting = await setUp(seed, { cwd: seed.remote });
  await wholeWay(setting);
});

test('WSP-34 a SHA-256 repository', async () => {
  await using setting = await setUp(makeRepository({ sha256: true }));
  expect(setting.base).toHaveLength(64);
  await wholeWay(setting);
});

test('WSP-35 started in a sub-folder, and in a linked worktree of the user', async () => {
  const seed = makeRepository({ files: { 'pkg/a/x': 'x' } });
  git(seed.dir, 'worktree', 'add', '-q', '-b', 'side', path.join(seed.home, 'side'));
  {
    const setting = await setUp(seed, { cwd: path.join(seed.dir, 'pkg/a') });
    expect(setting.repository.prefix).toBe('pkg/a');
    await wholeWay(setting);
  }
  await using setting = await setUp(seed, { cwd: path.join(seed.home, 'side') });
  await wholeWay(setting);
});

test('WSP-36 a sparse checkout: the candidate deletes nothing outside of the cone', async () => {
  const seed = makeRepository({ files: { 'far/away.txt': 'away', 'far/b/c.txt': 'c', 'near/x.txt': 'x' } });
  git(seed.dir, 'sparse-checkout', 'set', 'src', 'near');
  expect(existsSync(path.join(seed.dir, 'far'))).toBe(false);
  await using setting = await setUp(seed);
  await wholeWay(setting);
  const room = await setting.workspaces.cleanRoom('c', setting.base);
  expect(existsSync(path.join(room.dir, 'far/away.txt'))).toBe(true);
});

test('WSP-37 per-worktree configuration and a configuration full of surprises', async () => {
  const seed = makeRepository();
  for (const [key, value] of [
    ['extensions.worktreeConfig', 'true'],
    ['core.splitIndex', 'true'],
    ['core.untrackedCache', 'true'],
    ['core.quotePath', 'true'],
    ['core.abbrev', '4'],
    ['diff.noprefix', 'true'],
    ['diff.renames', 'copies'],
    ['status.relativePaths', 'false'],
    ['status.showUntrackedFiles', 'no'],
    ['color.ui', 'always'],
    ['core.fsmonitor', '/bin/false'],
    ['log.showSignature', 'true'],
    ['submodule.recurse', 'true'],
    ['core.logAllRefUpdates', 'always'],
    ['checkout.guess', 'false'],
  ] as const) {
    git(seed.dir, 'config', key, value);
  }
  git(seed.dir, 'config', '--worktree', 'core.autocrlf', 'false');
  git(seed.dir, 'update-index', '--split-index');
  await using setting = await setUp(seed);
  await wholeWay(setting);
});

test('WSP-38 line endings: autocrlf, an attribute, and a file that breaks its own rule give no change of their own', async () => {
  const seed = makeRepository({ files: { 'mixed.txt': 'a\r\nb\n', 'win.txt': 'a\r\nb\r\n' } });
  write(seed.dir, { '.gitattributes': 'win.txt text eol=crlf\nmixed.txt text\n' });
  git(seed.dir, 'add', '.gitattributes');
  git(seed.dir, 'commit', '-q', '-m', 'Attributes without renormalising');
  git(seed.dir, 'config', 'core.autocrlf', 'true');
  const base = git(seed.dir, 'rev-parse', 'HEAD');
  await using setting = await setUp(seed, { base });
  const { workspaces } = setting;
  const { dir } = await workspaces.open('r1', commitSha(base));
  expect(readFileSync(path.join(dir, 'README.md'), 'utf8')).toBe('# Seed\r\n');
  expect((await workspaces.commit('r1', 1, commitSha(base), 'm')).changed).toEqual([]);
  write(dir, { 'src/sum.mjs': rightSum.replaceAll('\n', '\r\n') });
  const candidate = await workspaces.commit('r1', 2, commitSha(base), 'm');
  expect(candidate.changed).toEqual(['src/sum.mjs']);
  expect(git(seed.dir, 'show', `${candidate.commit}:src/sum.mjs`)).toBe(rightSum.trim());
  const room = await workspaces.cleanRoom('c', candidate.commit);
  expect(readFileSync(path.join(room.dir, 'README.md'), 'utf8')).toBe('# Seed\r\n');
});

test('WSP-39 LFS is required and git-lfs is not installed: pointers stay pointers', async () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`;
  const seed = makeRepository({ files: { 'model.bin': pointer, '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n' } });
  const config = path.join(home(), '.gitconfig');
  const before = readFileSync(config, 'utf8');
  writeFileSync(
    config,
    `${before}[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n`,
  );
  const setting = await setUp(seed);
  const { dir } = await setting.workspaces.open('r0', setting.base);
  expect(readFileSync(path.join(dir, 'model.bin'), 'utf8')).toBe(pointer);
  await wholeWay(setting, false);
  writeFileSync(config, before);
  await setting[Symbol.asyncDispose]();
});

test('WSP-40 a repository that borrows its objects from another, and a git folder apart from its work tree', async () => {
  const seed = makeRepository();
  const dir = path.join(seed.home, 'klon ü');
  git(seed.home, 'clone', '-q', '--shared', seed.dir, dir);
  const apart = path.join(seed.home, 'apart');
  mkdirSync(apart);
  git(apart, 'init', '-q', `--separate-git-dir=${path.join(seed.home, 'git folder')}`);
  git(apart, 'pull', '-q', seed.dir, 'main');
  const setting = await setUp(seed, { cwd: dir });
  await wholeWay(setting);
  await using other = await setUp(seed, { cwd: apart });
  await wholeWay(other);
  expect(await resolveBase(other.repository, undefined)).toBe(seed.base);
  expect(snapshotCheckout(dir)['README.md']).toBeDefined();
});
