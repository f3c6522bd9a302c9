import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Rejection } from '../../src/core/fault.ts';
import { changedPaths, findRepository, readFileAt, resolveBase, stateHomeOf } from '../../src/workspace/index.ts';
import { commitSha } from '../../src/core/ids.ts';
import { commitAll, git, makeRepository, remove, temporaryFolder, useIsolatedHome, write, wrongSum } from '../testkit/repositories.ts';

useIsolatedHome();

const rejection = async (promise: Promise<unknown>): Promise<Rejection> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Rejection);
  return error as Rejection;
};

test('GIT-03 a repository without a commit is refused with what to do', async () => {
  const dir = temporaryFolder();
  git(dir, 'init', '-q');
  const refused = await rejection(findRepository(dir));
  expect(refused.message).toContain('no commit yet');
  expect(refused.hint).toContain('git commit');
  remove(dir);
});

test('GIT-17 a folder above two repositories is refused and names both; a plain folder says it is none', async () => {
  const dir = temporaryFolder();
  for (const name of ['eins', 'zwei']) {
    mkdirSync(path.join(dir, name));
    git(path.join(dir, name), 'init', '-q');
  }
  expect((await rejection(findRepository(dir))).message).toMatch(/holds 2: eins, zwei\./);
  mkdirSync(path.join(dir, 'leer'));
  expect((await rejection(findRepository(path.join(dir, 'leer')))).message).toContain('is not in a git repository');
  expect((await rejection(findRepository(path.join(dir, 'eins', '.git')))).message).toContain('inside a git folder');
  expect((await rejection(findRepository(path.join(dir, 'nowhere')))).message).toContain('does not exist');
  remove(dir);
});

test('GIT-17 started in a sub-folder, the root and the way to it are known', async () => {
  const seed = makeRepository({ files: { 'pkg/a ü/x.txt': 'x' } });
  const found = await findRepository(path.join(seed.dir, 'pkg', 'a ü'));
  expect(found).toEqual({ root: seed.dir, commonDir: path.join(seed.dir, '.git'), bare: false, prefix: 'pkg/a ü' });
  remove(seed.home);
});

test('WSP-01 a linked worktree and a bare repository share the git folder, and so the state home', async () => {
  const seed = makeRepository({ remote: true });
  git(seed.dir, 'worktree', 'add', '-q', '--detach', path.join(seed.home, 'second'));
  const second = await findRepository(path.join(seed.home, 'second'));
  expect(second.root).toBe(path.join(seed.home, 'second'));
  expect(second.commonDir).toBe(path.join(seed.dir, '.git'));
  const bare = await findRepository(seed.remote);
  expect(bare).toEqual({ root: seed.remote, commonDir: seed.remote, bare: true, prefix: '' });
  const homes = [seed.dir, second.root, seed.remote].map(async (dir) =>
    stateHomeOf({ commonDir: (await findRepository(dir)).commonDir, stateRoot: '/s' }),
  );
  const [main, linked, remote] = await Promise.all(homes);
  expect(main).toMatch(/^\/s\/projekt-u-[0-9a-f]{12}$/);
  expect(linked).toBe(main);
  expect(remote).toMatch(/^\/s\/remote-[0-9a-f]{12}$/);
  remove(seed.home);
});

test('GIT-01 the base is HEAD or the named target; no branch name is assumed', async () => {
  const seed = makeRepository({ branch: 'trunk', remote: true });
  const repository = await findRepository(seed.dir);
  expect(await resolveBase(repository, undefined)).toBe(seed.base);
  expect(await resolveBase(repository, 'trunk')).toBe(seed.base);
  git(seed.dir, 'checkout', '-q', '--detach');
  git(seed.dir, 'branch', '-q', '-D', 'trunk');
  expect(await resolveBase(repository, 'trunk')).toBe(seed.base);
  expect(await resolveBase(repository, undefined)).toBe(seed.base);
  expect((await rejection(resolveBase(repository, 'main'))).message).toMatch(/no branch "main".*origin\/trunk/);
  remove(seed.home);
});

test('GIT-13 a target is only ever a branch name: no expression, no option', async () => {
  const seed = makeRepository();
  write(seed.dir, { 'two.txt': '2' });
  commitAll(seed.dir, 'Two');
  const repository = await findRepository(seed.dir);
  for (const target of ['main~1', '--all', '-rf', 'main^{tree}', '', 'a..b', 'HEAD']) await rejection(resolveBase(repository, target));
  remove(seed.home);
});

test('WSP-02 files of a commit are read by their exact names; what is not there is undefined', async () => {
  const odd = { 'docs/naïve "q"\n -> b.txt': 'odd', '[a]*.txt': 'glob', '-x': 'option' };
  const seed = makeRepository({ files: odd });
  const repository = await findRepository(seed.dir);
  const base = commitSha(seed.base);
  for (const [name, content] of Object.entries(odd)) expect((await readFileAt(repository, base, name))?.toString()).toBe(content);
  expect(await readFileAt(repository, base, 'docs')).toBeUndefined();
  expect(await readFileAt(repository, base, 'nothing')).toBeUndefined();
  git(seed.dir, 'mv', 'src/sum.mjs', 'src/plus.mjs');
  writeFileSync(path.join(seed.dir, 'README.md'), 'x');
  const next = commitSha(commitAll(seed.dir, 'Rename'));
  expect(await changedPaths(repository, base, next)).toEqual(['README.md', 'src/plus.mjs', 'src/sum.mjs']);
  expect((await readFileAt(repository, next, 'src/plus.mjs'))?.toString()).toBe(wrongSum);
  remove(seed.home);
});
