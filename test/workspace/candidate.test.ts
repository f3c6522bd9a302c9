import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { commitAll, git, makeDirty, makeRepository, rightSum, tryGit, useIsolatedHome, write } from '../testkit/repositories.ts';
import { setUp, type Setting } from './setting.ts';

const { setIdentity } = useIsolatedHome();

const fileOf = (setting: Setting, commit: string, name: string): string =>
  execFileSync('git', ['cat-file', 'blob', `${commit}:${name}`], { cwd: setting.seed.dir }).toString();
const filesOf = (setting: Setting, commit: string): string[] =>
  git(setting.seed.dir, 'ls-tree', '-r', '-z', '--name-only', commit)
    .split('\0')
    .filter((name) => name !== '');

test('WTR-01 work that the agent did not commit is the candidate: one commit on base, on no branch', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  expect(tryGit(dir, 'symbolic-ref', '-q', 'HEAD')).toBeUndefined();
  write(dir, { 'src/sum.mjs': rightSum, 'new ü.txt': 'new\n' });
  rmSync(path.join(dir, 'README.md'));
  const candidate = await workspaces.commit('r1', 1, base, 'Attempt 1 of r1');
  expect(candidate.changed).toEqual(['README.md', 'new ü.txt', 'src/sum.mjs']);
  expect(candidate).toMatchObject({ base, leftOut: [], unfinished: '', agentCommits: 0, notes: [] });
  expect(fileOf(setting, candidate.commit, 'src/sum.mjs')).toBe(rightSum);
  expect(git(seed.dir, 'rev-list', '--parents', '-1', candidate.commit)).toBe(`${candidate.commit} ${base}`);
  expect(git(seed.dir, 'rev-parse', 'refs/gyre/runs/r1/a1')).toBe(candidate.commit);
  expect(git(seed.dir, 'branch', '-a', '--format=%(refname)')).toBe('refs/heads/main');
  expect(git(seed.dir, 'show', '-s', '--format=%an <%ae> %s', candidate.commit)).toBe(
    'Test Author <author@example.invalid> Attempt 1 of r1',
  );
});

test('L5 the same attempt gives the same candidate, also after more work; the next attempt has its own', async () => {
  await using setting = await setUp(makeRepository());
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { '.env': 'TOKEN=x\n', 'a.txt': 'a' });
  const first = await workspaces.commit('r1', 1, base, 'm');
  write(dir, { 'b.txt': 'b' });
  expect(await workspaces.commit('r1', 1, base, 'other')).toEqual(first);
  expect(await workspaces.candidate('r1', 1, base)).toEqual(first);
  expect(await workspaces.candidate('r1', 2, base)).toBeUndefined();
  expect((await workspaces.commit('r1', 2, base, 'm')).changed).toEqual(['a.txt', 'b.txt']);
  expect(await workspaces.open('r1', base)).toEqual({ dir });
});

test('WSP-10 staged only, committed in part, changed after staging, force-added: the candidate is what stands in the folder', async () => {
  await using setting = await setUp(makeRepository({ files: { '.gitignore': 'out/\n' } }));
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'staged.txt': 'staged\n', 'twice.txt': 'one\n', 'out/forced.txt': 'forced\n', 'out/ignored.txt': 'no\n' });
  git(dir, 'add', 'staged.txt', 'twice.txt');
  git(dir, 'add', '-f', 'out/forced.txt');
  git(dir, 'commit', '-q', '-m', 'part', '--', 'twice.txt');
  write(dir, { 'twice.txt': 'two\n', 'later.txt': 'later\n' });
  const candidate = await workspaces.commit('r1', 1, base, 'm');
  expect(candidate.changed).toEqual(['later.txt', 'out/forced.txt', 'staged.txt', 'twice.txt']);
  expect(fileOf(setting, candidate.commit, 'twice.txt')).toBe('two\n');
  expect(candidate.agentCommits).toBe(1);
});

test('WSP-11 an edit of the same length within the second of the checkout is seen, with its time put back too', async () => {
  await using setting = await setUp(makeRepository());
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  const file = path.join(dir, 'src/sum.mjs');
  const before = statSync(file);
  writeFileSync(file, rightSum);
  utimesSync(file, before.atime, before.mtime);
  expect((await workspaces.commit('r1', 1, base, 'm')).changed).toEqual(['src/sum.mjs']);
});

test('WSP-12 marks that hide files from git do not hide them from the candidate', async () => {
  await using setting = await setUp(makeRepository());
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  git(dir, 'update-index', '--skip-worktree', 'README.md');
  git(dir, 'update-index', '--assume-unchanged', 'src/sum.mjs');
  write(dir, { 'README.md': 'hidden\n', 'src/sum.mjs': rightSum });
  expect((await workspaces.commit('r1', 1, base, 'm')).changed).toEqual(['README.md', 'src/sum.mjs']);
});

test('WSP-13 files become folders, folders files and links; a lost or broken index changes nothing', async () => {
  await using setting = await setUp(makeRepository({ files: { 'd/x': 'x', 'e/y': 'y', f: 'f', g: 'g' } }));
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  for (const name of ['d', 'e', 'f']) rmSync(path.join(dir, name), { recursive: true });
  write(dir, { d: 'now a file', 'f/z': 'now a folder' });
  symlinkSync('src', path.join(dir, 'e'));
  const first = await workspaces.commit('r1', 1, base, 'm');
  expect(first.changed).toEqual(['d', 'd/x', 'e', 'e/y', 'f', 'f/z']);
  const index = git(dir, 'rev-parse', '--git-path', 'index');
  truncateSync(index, 40);
  expect((await workspaces.commit('r1', 2, base, 'm')).tree).toBe(first.tree);
  rmSync(index);
  expect((await workspaces.commit('r1', 3, base, 'm')).tree).toBe(first.tree);
});

test('WTR-03 commits of a first attempt stay reachable by name, and a second one that changes nothing is not empty', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'half.txt': 'half\n' });
  const own = commitAll(dir, 'half of it');
  const first = await workspaces.commit('r1', 1, base, 'm');
  expect(git(seed.dir, 'rev-parse', 'refs/gyre/runs/r1/a1-head')).toBe(own);
  const second = await workspaces.commit('r1', 2, base, 'm');
  expect(second.changed).toEqual(['half.txt']);
  expect(second.tree).toBe(first.tree);
  expect(second.agentCommits).toBe(1);
  expect(await workspaces.release('r1', [])).toEqual(['unlanded-commits']);
  expect(git(seed.dir, 'merge-base', '--is-ancestor', own, 'refs/gyre/runs/r1/a1-head')).toBe('');
});

test('GIT-15 a commit on a branch the agent made, or detached, is in the candidate, and the switch is named', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  git(dir, 'switch', '-q', '-c', 'other');
  write(dir, { 'src/sum.mjs': rightSum });
  const own = commitAll(dir, 'fix');
  const candidate = await workspaces.commit('r1', 1, base, 'm');
  expect(candidate.changed).toEqual(['src/sum.mjs']);
  expect(candidate.agentCommits).toBe(1);
  expect(candidate.notes.join(' ')).toMatch(/switched to branch other\..*made other at/);
  git(dir, 'checkout', '-q', '--detach');
  write(dir, { 'more.txt': 'more' });
  commitAll(dir, 'more');
  expect((await workspaces.commit('r1', 2, base, 'm')).changed).toEqual(['more.txt', 'src/sum.mjs']);
  expect(git(seed.dir, 'rev-parse', 'main')).toBe(base);
  expect(git(seed.dir, 'rev-parse', 'other')).toBe(own);
  setting.checkpoint();
});

test('GIT-15 commits that the agent made and moved away from are kept under a ref and named', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'x.txt': 'x' });
  const left = commitAll(dir, 'left behind');
  git(dir, 'checkout', '-q', '--detach', base);
  const candidate = await workspaces.commit('r1', 1, base, 'm');
  expect(candidate.changed).toEqual([]);
  expect(candidate.notes.join(' ')).toContain(`Commit ${left} was made in the workspace and left behind`);
  expect(git(seed.dir, 'rev-parse', 'refs/gyre/runs/r1/a1-left1')).toBe(left);
});

test('GIT-15 a branch of the user that the agent moved is named; one the user moved is not laid at its door', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base } = setting;
  git(seed.dir, 'branch', 'theirs');
  git(seed.dir, 'branch', 'mine');
  const { dir } = await workspaces.open('r1', base);
  git(dir, 'switch', '-q', 'theirs');
  write(dir, { 'x.txt': 'x' });
  commitAll(dir, 'on a branch of the user');
  git(seed.dir, 'branch', '-f', 'mine', git(seed.dir, 'commit-tree', '-p', base, '-m', 'user', `${base}^{tree}`));
  // Apart from the notes, because a moved branch of the user refuses the verdict.
  const { movedRefs = [] } = await workspaces.commit('r1', 1, base, 'm');
  expect(movedRefs.join(' ')).toMatch(/moved theirs from/);
  expect(movedRefs.join(' ')).not.toContain('mine');
  setting.checkpoint();
});

test('MRG-07 a rebase, merge, cherry-pick or revert left half done is detected and the earlier commits stay reachable', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  expect((await workspaces.commit('r1', 1, base, 'm')).unfinished).toBe('');
  write(dir, { 'README.md': 'one\n' });
  const one = commitAll(dir, 'one');
  git(dir, 'checkout', '-q', '--detach', base);
  write(dir, { 'README.md': 'two\n' });
  const two = commitAll(dir, 'two');
  tryGit(dir, 'rebase', one);
  const rebasing = await workspaces.commit('r1', 2, base, 'm');
  expect(rebasing.unfinished).toBe('rebase');
  const kept = git(seed.dir, 'for-each-ref', '--format=%(refname)', `--contains=${two}`, 'refs/gyre/runs/r1');
  expect(kept).not.toBe('');
  git(dir, 'rebase', '--abort');
  for (const [number, operation] of [
    ['merge', one],
    ['cherry-pick', one],
    ['revert', one],
  ].entries()) {
    tryGit(dir, operation[0] ?? '', operation[1] ?? '');
    expect((await workspaces.commit('r1', number + 3, base, 'm')).unfinished).toBe(operation[0]);
    git(dir, operation[0] ?? '', '--abort');
  }
  git(dir, 'bisect', 'start');
  expect((await workspaces.commit('r1', 9, base, 'm')).unfinished).toBe('bisect');
});

test('GIT-11 names with accents, arrows, quotes, line breaks and leading dashes are exact', async () => {
  await using setting = await setUp(makeRepository({ files: { 'a.txt': 'a long enough text to be seen as renamed\n'.repeat(5) } }));
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  mkdirSync(path.join(dir, 'docs'));
  renameSync(path.join(dir, 'a.txt'), path.join(dir, 'docs', 'a -> b.txt'));
  const names = [
    'docs/naïve file.md',
    'docs/with "quote".md',
    'docs/with\nline break.md',
    '-rf',
    '[x]*?.md',
    ':(top)x',
    'back\\slash',
    ' blank ',
  ];
  for (const name of names) write(dir, { [name]: name });
  const { changed, commit } = await workspaces.commit('r1', 1, base, 'm');
  expect([...changed].sort()).toEqual(['a.txt', 'docs/a -> b.txt', ...names].sort());
  for (const name of names) expect(fileOf(setting, commit, name)).toBe(name);
});

test('WSP-14 packages, secrets, huge files, links to outside and nested repositories are left out and listed, also when the agent committed them', async () => {
  await using setting = await setUp(
    makeRepository({ files: { '.env.local': 'TRACKED=1\n', 'vendor/node_modules/p/index.js': 'tracked\n' } }),
  );
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, {
    'node_modules/a/index.js': '1',
    'node_modules/b/index.js': '2',
    'pkg/node_modules/c/index.js': '3',
    '.env': 'S=1',
    'sub/.env.production': 'S=2',
    '.env.example': 'S=',
    'big.bin': '',
    'limit.bin': '',
    '.env.local': 'TRACKED=2\n',
    'vendor/node_modules/p/index.js': 'changed\n',
    'vendor/node_modules/q.js': 'new\n',
  });
  truncateSync(path.join(dir, 'big.bin'), 10 * 1024 * 1024 + 1);
  truncateSync(path.join(dir, 'limit.bin'), 10 * 1024 * 1024);
  symlinkSync('../../outside', path.join(dir, 'out'));
  symlinkSync('/etc/hostname', path.join(dir, 'absolute'));
  symlinkSync('src/sum.mjs', path.join(dir, 'inside'));
  mkdirSync(path.join(dir, 'nested'));
  git(path.join(dir, 'nested'), 'init', '-q');
  write(path.join(dir, 'nested'), { x: 'x' });
  commitAll(path.join(dir, 'nested'), 'nested');
  const expected = ['.env', 'absolute', 'big.bin', 'nested', 'node_modules', 'out', 'pkg/node_modules', 'sub/.env.production'];
  const first = await workspaces.commit('r1', 1, base, 'm');
  expect(first.leftOut.map((one) => one.path).sort()).toEqual(expected);
  const kept = ['.env.example', '.env.local', 'inside', 'limit.bin', 'vendor/node_modules/p/index.js', 'vendor/node_modules/q.js'];
  expect(first.changed).toEqual(kept);
  tryGit(dir, 'add', '-A', '-f');
  git(dir, 'commit', '-q', '-m', 'everything');
  const second = await workspaces.commit('r1', 2, base, 'm');
  expect(second.changed).toEqual(kept);
  expect(second.leftOut.map((one) => one.path).sort()).toEqual(expected);
  expect(await workspaces.release('r1', [second.commit])).toContain('uncommitted-changes');
});

test('WTR-13 the candidate starts from base, not from the dirty checkout, and the checkout stays as it is', async () => {
  const seed = makeRepository();
  makeDirty(seed.dir);
  await using setting = await setUp(seed);
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'src/sum.mjs': rightSum });
  const { changed, commit } = await workspaces.commit('r1', 1, base, 'm');
  expect(changed).toEqual(['src/sum.mjs']);
  expect(filesOf(setting, commit)).toEqual(['README.md', 'check', 'src/sum.mjs']);
  await workspaces.cleanRoom('c', commit);
  await workspaces.discardCleanRoom('c');
  expect(await workspaces.release('r1', [commit])).toEqual([]);
});

test('MRG-09 independent runs one after the other each hold exactly their own file', async () => {
  await using setting = await setUp(makeRepository());
  const { workspaces, base } = setting;
  for (const run of ['r1', 'r2', 'r3']) {
    const { dir } = await workspaces.open(run, base);
    write(dir, { [`${run}.txt`]: run });
    expect((await workspaces.commit(run, 1, base, 'm')).changed).toEqual([`${run}.txt`]);
  }
});

test('WSP-15 where nobody is configured Gyre commits as itself; an agent that made HEAD unborn loses nothing', async () => {
  await using setting = await setUp(makeRepository());
  const { seed, workspaces, base } = setting;
  setIdentity(false);
  const { dir } = await workspaces.open('r1', base);
  git(dir, 'checkout', '-q', '--orphan', 'fresh');
  write(dir, { 'src/sum.mjs': rightSum });
  const candidate = await workspaces.commit('r1', 1, base, 'm');
  setIdentity(true);
  expect(candidate.changed).toEqual(['src/sum.mjs']);
  expect(git(seed.dir, 'show', '-s', '--format=%an <%ae> %cn', candidate.commit)).toBe('Gyre <gyre@localhost> Gyre');
});

test('GIT-11 what git cannot keep (a pipe in place of a file, a name that is no text) is left out by name, and the rest is taken', async () => {
  await using setting = await setUp(makeRepository());
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'src/sum.mjs': rightSum });
  execFileSync('sh', ['-c', 'rm README.md && mkfifo README.md new-pipe && printf x > "$(printf \'\\377bad\')"'], { cwd: dir });
  const candidate = await workspaces.commit('r1', 1, base, 'm');
  expect(candidate.changed).toEqual(['README.md', 'src/sum.mjs']);
  expect(candidate.leftOut.map((left) => left.path).toSorted()).toEqual(['README.md', '\u{FFFD}bad']);
  expect(await workspaces.release('r1', [candidate.commit])).toEqual(['uncommitted-changes']);
});

test('HUM-09 a branch of the user that the agent moved, and a push, are named; a branch it made is only a note', async () => {
  await using setting = await setUp(makeRepository({ remote: true }));
  const { seed, workspaces, base } = setting;
  git(seed.dir, 'branch', 'keep');
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'src/sum.mjs': rightSum });
  git(dir, 'commit', '-qam', 'mine');
  git(dir, 'branch', 'fresh');
  git(dir, 'update-ref', 'refs/heads/keep', 'HEAD');
  git(dir, 'push', '-q', 'origin', 'HEAD:refs/heads/main');
  setting.checkpoint();
  const { movedRefs, notes } = await workspaces.commit('r1', 1, base, 'm');
  expect(movedRefs).toHaveLength(2);
  expect(movedRefs?.join('\n')).toMatch(/moved keep from .*\n.*pushed to origin\/main/);
  expect(notes.join('\n')).toContain('The agent made fresh');
});

test('CHT-01 replaced objects hide nothing: the change is read from what was really committed', async () => {
  await using setting = await setUp(makeRepository({ files: { 'test/sum.test.js': 'expect 5\n' } }));
  const { workspaces, base } = setting;
  const { dir } = await workspaces.open('r1', base);
  write(dir, { 'test/sum.test.js': 'expect -1\n' });
  git(dir, 'commit', '-qam', 'cheat');
  git(dir, 'replace', '-f', base, git(dir, 'commit-tree', '-m', 'base', 'HEAD^{tree}'));
  expect((await workspaces.commit('r1', 1, base, 'm')).changed).toEqual(['test/sum.test.js']);
});
