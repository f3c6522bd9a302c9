import { chmodSync, existsSync, lstatSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { commitSha } from '../../src/core/ids.ts';
import { commitAll, git, makeRepository, rightSum, runIn, useIsolatedHome, write } from '../testkit/repositories.ts';
import { setUp } from './setting.ts';

useIsolatedHome();

test('L1 a clean room holds exactly one commit, with no remote, no ref and no way back to the repository', async () => {
  await using setting = await setUp(makeRepository({ remote: true }));
  const { seed, workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'src/sum.mjs': rightSum });
  const { commit } = await workspaces.commit('r1', 1, base, 'm');
  const room = await workspaces.cleanRoom('check-1', commit);
  expect(git(room.dir, 'rev-parse', 'HEAD')).toBe(commit);
  expect(git(room.dir, 'status', '--porcelain', '--ignored')).toBe('');
  expect(git(room.dir, 'remote')).toBe('');
  expect(git(room.dir, 'for-each-ref')).toBe('');
  expect(git(room.dir, 'log', '--format=%H')).toBe(`${commit}\n${base}`);
  expect(lstatSync(path.join(room.dir, '.git')).isDirectory()).toBe(true);
  expect(runIn(room.dir, './check')).toEqual({ code: 0, output: 'ok adds\nok keeps zero\n2 passed, 0 failed\n' });
  // What a check does with git there stays there.
  write(room.dir, { 'junk.txt': 'junk' });
  const junk = commitAll(room.dir, 'junk');
  git(room.dir, 'branch', 'main');
  git(room.dir, 'stash', 'list');
  expect(runIn(seed.dir, 'git', 'cat-file', '-e', junk).code).not.toBe(0);
  const again = await workspaces.cleanRoom('check-1', base);
  expect(again).toEqual(room);
  expect(existsSync(path.join(room.dir, 'junk.txt'))).toBe(false);
  expect(runIn(room.dir, './check').output).toContain('1 passed, 1 failed');
  await workspaces.discardCleanRoom('check-1');
  await workspaces.discardCleanRoom('check-1');
  expect(existsSync(room.dir)).toBe(false);
});

test('L1 pinned files stand as on base: changed back, restored with their mode, removed where base has none', async () => {
  await using setting = await setUp(
    makeRepository({ files: { 'test/a.js': 'a', 'test/b.js': 'b', 'test/c ü "q".js': 'c', tool: 'tool', 'x/y': 'y' } }),
  );
  const { seed, workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'test/a.js': 'cheat', 'test/new.js': 'new', 'src/sum.mjs': rightSum });
  for (const name of ['test/b.js', 'tool', 'x']) rmSync(path.join(dir, name), { recursive: true });
  write(dir, { 'tool/inside': 'a folder now', x: 'a file now' });
  chmodSync(path.join(dir, 'check'), 0o644);
  const { commit } = await workspaces.commit('r1', 1, base, 'm');
  const paths = ['test/a.js', 'test/b.js', 'test/c ü "q".js', 'test/new.js', 'tool', 'tool/inside', 'x', 'x/y', 'check', 'nowhere', '*'];
  const room = await workspaces.cleanRoom('c', commit, { from: base, paths });
  expect(readdirSync(path.join(room.dir, 'test')).sort()).toEqual(['a.js', 'b.js', 'c ü "q".js']);
  const text = (name: string): string => readFileSync(path.join(room.dir, name), 'utf8');
  expect(['test/a.js', 'test/b.js', 'tool', 'x/y', 'src/sum.mjs'].map(text)).toEqual(['a', 'b', 'tool', 'y', rightSum]);
  expect(statSync(path.join(room.dir, 'check')).mode & 0o111).not.toBe(0);
  expect(git(room.dir, 'rev-parse', 'HEAD')).toBe(commit);
  expect(git(seed.dir, 'rev-parse', 'HEAD')).toBe(base);
});

test('L6 pinning does not write through a link that the candidate put in place of a folder', async () => {
  await using setting = await setUp(makeRepository({ files: { 'test/a.js': 'a' } }));
  const { seed, workspaces, base } = setting;
  write(seed.home, { 'outside/gone.js': 'keep me' });
  const { dir } = await workspaces.open('r1', base);
  // `leave-out` refuses a new link to outside; a commit made elsewhere may still hold one.
  rmSync(path.join(dir, 'test'), { recursive: true });
  symlinkSync(path.join(seed.home, 'outside'), path.join(dir, 'test'));
  git(dir, 'add', '-A');
  git(dir, 'commit', '-q', '-m', 'link');
  const commit = commitSha(git(dir, 'rev-parse', 'HEAD'));
  const room = await workspaces.cleanRoom('c', commit, { from: base, paths: ['test', 'test/a.js', 'test/gone.js'] });
  expect(readdirSync(path.join(seed.home, 'outside'))).toEqual(['gone.js']);
  expect(lstatSync(path.join(room.dir, 'test')).isDirectory()).toBe(true);
  expect(readFileSync(path.join(room.dir, 'test/a.js'), 'utf8')).toBe('a');
});

test('L2 a clean room that cannot be made leaves nothing that looks like one', async () => {
  await using setting = await setUp(makeRepository());
  const { workspaces, stateHome } = setting;
  await expect(workspaces.cleanRoom('c', commitSha('1'.repeat(40)))).rejects.toMatchObject({ code: 'GIT_FAILED' });
  expect(readdirSync(path.join(stateHome, 'clean'))).toEqual([]);
});
