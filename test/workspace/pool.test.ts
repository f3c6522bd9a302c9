import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { commitSha, epochMs, type CommitSha } from '../../src/core/ids.ts';
import { createPool, createWorkspaces, type WorkspaceManager, type WorkspacePool } from '../../src/workspace/index.ts';
import { git, makeRepository, useIsolatedHome, write } from '../testkit/repositories.ts';
import { setUp, type Setting } from './setting.ts';

useIsolatedHome();

interface Pooled extends AsyncDisposable {
  readonly setting: Setting;
  readonly pool: WorkspacePool;
  readonly workspaces: WorkspaceManager;
  readonly base: CommitSha;
  readonly next: CommitSha;
}

const files: Readonly<Record<string, string>> = {
  'top.txt': 'top\n',
  'run.sh': '#!/bin/sh\n',
  'a/one.txt': 'one\n',
  'a/b/two.txt': 'two\n',
  'a/b/three.txt': 'three\n',
  'c/d/four.txt': 'four\n',
  'c/five.txt': 'five\n',
  'e/six.txt': 'six\n',
  'f/seven.txt': 'seven\n',
  'g/h/eight.txt': 'eight\n',
  '.gitignore': 'ignored/\n*.log\n',
};

/** A repository with two commits, its workspaces, and a pool. The files are at rest before anything is used again. */
const makePooled = async (entriesMin = 1): Promise<Pooled> => {
  const seed = makeRepository();
  write(seed.dir, files);
  fs.chmodSync(path.join(seed.dir, 'run.sh'), 0o755);
  fs.symlinkSync('one.txt', path.join(seed.dir, 'a/link'));
  git(seed.dir, 'add', '-A');
  git(seed.dir, 'commit', '-qm', 'more');
  const base = commitSha(git(seed.dir, 'rev-parse', 'HEAD'));
  write(seed.dir, { 'a/one.txt': 'one, again\n', 'new/nine.txt': 'nine\n' });
  git(seed.dir, 'rm', '-q', 'f/seven.txt');
  git(seed.dir, 'add', '-A');
  git(seed.dir, 'commit', '-qm', 'next');
  const next = commitSha(git(seed.dir, 'rev-parse', 'HEAD'));
  const setting = await setUp(seed, { base });
  const { repository, stateHome } = setting;
  const pool = createPool({ repository, dir: path.join(stateHome, 'pool'), entriesMin });
  const workspaces = createWorkspaces({ repository, stateHome, clock: () => epochMs(Date.now()), pool });
  return {
    setting,
    pool,
    workspaces,
    base,
    next,
    [Symbol.asyncDispose]: async () => {
      await pool.close();
      await setting[Symbol.asyncDispose]();
    },
  };
};

/** Every entry with kind, permissions, names and bytes; and what git keeps of the worktree, but for names, times and its own index bytes. */
const bytesOf = (dir: string): Record<string, string> => {
  const found: Record<string, string> = {};
  const look = (folder: string): void => {
    for (const name of fs.readdirSync(path.join(dir, folder)).toSorted()) {
      const file = path.join(folder, name);
      if (file === '.git') continue;
      const stat = fs.lstatSync(path.join(dir, file));
      const body = stat.isFile()
        ? fs.readFileSync(path.join(dir, file), 'hex')
        : stat.isSymbolicLink()
          ? fs.readlinkSync(path.join(dir, file))
          : '';
      found[file] = `${stat.mode.toString(8)} ${stat.isDirectory() ? '' : stat.nlink} ${body}`;
      if (stat.isDirectory()) look(file);
    }
  };
  look('');
  const admin = git(dir, 'rev-parse', '--absolute-git-dir');
  found['of git'] = fs.readdirSync(admin).toSorted().join(' ');
  found['of git: flags'] = git(dir, 'ls-files', '-v', '-s', '--debug')
    .replace(/^ {2}(?:[cm]time|dev|uid|size).*$/gm, '')
    .replace(/ +\n/g, '\n');
  found['of git: settings'] = git(dir, 'config', '--list', '--show-scope')
    .split('\n')
    .filter((line) => /^(?:local|worktree)/.test(line))
    .join('\n');
  found['of git: refs'] = git(dir, 'for-each-ref', 'refs/worktree', 'refs/bisect');
  found['of git: state'] = git(dir, 'status', '--porcelain=v2', '--branch', '--ignored');
  return found;
};

/** Opens and releases a run of which nothing is to be kept, with what its agent did in between. */
const use = async (pooled: Pooled, run: string, act: (dir: string) => void): Promise<void> => {
  const { dir } = await pooled.workspaces.open(run, pooled.base);
  act(dir);
  expect(await pooled.workspaces.release(run, [])).toEqual([]);
  expect(fs.existsSync(dir)).toBe(false);
};

/** Which file it is: the time it was made tells it from another one that was given the same inode number. */
const inode = (dir: string, file: string): string => {
  const { ino, birthtimeNs } = fs.lstatSync(path.join(dir, file), { bigint: true });
  return `${ino} ${birthtimeNs}`;
};

/** The workspace of the second run beside one made by a pool that has nothing. */
const compare = async (pooled: Pooled, commit: CommitSha): Promise<{ readonly dir: string }> => {
  const { repository, stateHome } = pooled.setting;
  const opened = await pooled.workspaces.open('again', commit);
  const fresh = createWorkspaces({ repository, stateHome, clock: () => epochMs(Date.now()) });
  const beside = await fresh.open('fresh', commit);
  expect(bytesOf(opened.dir)).toEqual(bytesOf(beside.dir));
  expect(git(opened.dir, 'fsck', '--no-dangling')).toBe('');
  return opened;
};

const atRest = async (): Promise<void> => {
  const from = Date.now();
  // A file counts as proven when the clock has moved on since it was written; the loop waits for that, not for luck.
  while (Date.now() < from + 60) await new Promise((resolve) => setTimeout(resolve, 10));
};

const warmUse = async (pooled: Pooled, run: string, act: (dir: string) => void): Promise<Map<string, string>> => {
  const { dir } = await pooled.workspaces.open(run, pooled.base);
  await atRest();
  await pooled.workspaces.release(run, []);
  const again = await pooled.workspaces.open(`${run}2`, pooled.base);
  const inodes = new Map(Object.keys(files).map((file) => [file, inode(again.dir, file)]));
  act(again.dir);
  expect(await pooled.workspaces.release(`${run}2`, [])).toEqual([]);
  expect(fs.existsSync(dir)).toBe(false);
  return inodes;
};

test('WTR-01 L7 a workspace that holds work is never taken over by the pool', async () => {
  await using pooled = await makePooled();
  const { dir } = await pooled.workspaces.open('r1', pooled.base);
  write(dir, { 'idea.txt': 'worth keeping\n' });
  expect(await pooled.workspaces.release('r1', [])).toEqual(['uncommitted-changes']);
  expect(fs.readFileSync(path.join(dir, 'idea.txt'), 'utf8')).toBe('worth keeping\n');
  expect(await pooled.pool.shrink(0)).toBe(0);
  expect(fs.existsSync(dir)).toBe(true);
});

test('WTR-05 a linked dependency folder of the last run is gone from the next, and what it led to is whole', async () => {
  await using pooled = await makePooled();
  const real = path.join(pooled.setting.seed.home, 'real');
  write(real, { 'x/y.txt': 'mine\n' });
  await use(pooled, 'r1', (dir) => {
    fs.symlinkSync(real, path.join(dir, 'node_modules'));
    fs.mkdirSync(path.join(dir, 'ignored'));
    fs.symlinkSync(path.join(real, 'x'), path.join(dir, 'ignored/link'));
  });
  await compare(pooled, pooled.base);
  expect(fs.readFileSync(path.join(real, 'x/y.txt'), 'utf8')).toBe('mine\n');
});

test('WSP-60 a workspace used again is byte for byte a fresh one, whatever the last agent left', async () => {
  await using pooled = await makePooled();
  const outside = path.join(pooled.setting.seed.home, 'outside');
  write(outside, { 'c/five.txt': 'planted\n', 'victim.txt': 'seven\n' });
  const before = await warmUse(pooled, 'r', (dir) => {
    // What git is told not to look at is changed back by `restore`, so that nothing is left to be kept.
    git(dir, 'sparse-checkout', 'set', '--no-cone', '/*');
    git(dir, 'sparse-checkout', 'disable');
    git(dir, 'update-index', '--assume-unchanged', 'a/b/two.txt');
    git(dir, 'update-index', '--skip-worktree', 'a/b/three.txt');
    git(dir, 'update-ref', 'refs/worktree/mine', 'HEAD');
    git(dir, 'bisect', 'start');
    git(dir, 'config', 'extensions.worktreeConfig', 'true');
    git(dir, 'config', '--worktree', 'core.hooksPath', '/tmp/hooks');
    git(dir, 'config', '--unset', 'extensions.worktreeConfig');
    write(dir, { 'ignored/deep/x': 'x', 'a/left.log': 'log', 'node_modules/p/index.js': 'evil' });
    git(dir, 'init', '-q', 'ignored/nested');
    // Same bytes, same size, same times, as far as a program can set them.
    const four = path.join(dir, 'c/d/four.txt');
    const { atime, mtime } = fs.lstatSync(four);
    fs.writeFileSync(four, 'FOUR\n');
    fs.utimesSync(four, atime, mtime);
    fs.writeFileSync(four, 'four\n');
    fs.utimesSync(four, atime, mtime);
    fs.chmodSync(path.join(dir, 'e/six.txt'), 0o600);
    fs.chmodSync(path.join(dir, 'g'), 0o777);
    fs.linkSync(path.join(dir, 'top.txt'), path.join(outside, 'top.txt'));
    // A second name outside: whoever writes there would write here.
    fs.linkSync(path.join(dir, 'c/five.txt'), path.join(outside, 'five.txt'));
    fs.mkdirSync(path.join(dir, 'ignored/empty/folders'), { recursive: true });
    fs.mkdirSync(path.join(dir, 'a/b/empty'));
  });
  const { dir } = await compare(pooled, pooled.base);
  const kept = (file: string): boolean => inode(dir, file) === before.get(file);
  // What nobody touched is the file it was; that is what makes it fast.
  expect(['f/seven.txt'].map(kept)).toEqual([true]);
  expect(['c/d/four.txt', 'e/six.txt', 'g/h/eight.txt', 'c/five.txt', 'a/b/two.txt'].map(kept)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
});

test('WSP-61 a folder swapped for a link does not lead the next workspace out of its place', async () => {
  await using pooled = await makePooled();
  const outside = path.join(pooled.setting.seed.home, 'outside');
  write(outside, { 'six.txt': 'six\n' });
  await warmUse(pooled, 'r', (dir) => {
    // The tree is the same through the link, so there is nothing to keep.
    fs.renameSync(path.join(dir, 'e'), path.join(outside, 'e'));
    fs.cpSync(path.join(outside, 'e'), path.join(dir, 'e'), { recursive: true });
    fs.rmSync(path.join(dir, 'g'), { recursive: true });
    fs.cpSync(path.join(outside, 'e'), path.join(dir, 'ignored'), { recursive: true });
    git(dir, 'checkout', '-q', '--', 'g');
  });
  for (const home of fs.readdirSync(path.join(pooled.setting.stateHome, 'pool')).filter((name) => name.startsWith('folder-'))) {
    const tree = path.join(pooled.setting.stateHome, 'pool', home, 'tree');
    fs.rmSync(path.join(tree, 'e'), { recursive: true });
    fs.symlinkSync(outside, path.join(tree, 'e'));
  }
  const { dir } = await compare(pooled, pooled.next);
  expect(fs.lstatSync(path.join(dir, 'e')).isSymbolicLink()).toBe(false);
  expect(fs.readFileSync(path.join(outside, 'six.txt'), 'utf8')).toBe('six\n');
});

test('WSP-62 the next workspace may be at another commit, and files unchanged between the two are used again', async () => {
  await using pooled = await makePooled();
  const before = await warmUse(pooled, 'r', () => {});
  const { dir } = await compare(pooled, pooled.next);
  expect(fs.readFileSync(path.join(dir, 'a/one.txt'), 'utf8')).toBe('one, again\n');
  expect(inode(dir, 'g/h/eight.txt')).toBe(before.get('g/h/eight.txt'));
});

test('WSP-63 notes that somebody wrote prove nothing: the folder is thrown away', async () => {
  await using pooled = await makePooled();
  const before = await warmUse(pooled, 'r', () => {});
  const home = fs.readdirSync(path.join(pooled.setting.stateHome, 'pool')).find((name) => name.startsWith('folder-')) ?? '';
  const at = path.join(pooled.setting.stateHome, 'pool', home);
  fs.writeFileSync(path.join(at, 'tree/g/h/eight.txt'), 'EIGHT\n');
  const stat = fs.lstatSync(path.join(at, 'tree/g/h/eight.txt'), { bigint: true });
  const marks = (JSON.parse(fs.readFileSync(path.join(at, 'marks.json'), 'utf8')) as [string, string][]).map(([file, mark]) =>
    file === 'g/h/eight.txt' ? [file, mark.replace(/ \d+ (\d+ \d+ \d+ \d+)$/, ` ${stat.ctimeNs} $1`)] : [file, mark],
  );
  fs.writeFileSync(path.join(at, 'marks.json'), JSON.stringify(marks));
  const { dir } = await compare(pooled, pooled.base);
  expect(inode(dir, 'f/seven.txt')).not.toBe(before.get('f/seven.txt'));
  expect(fs.existsSync(at)).toBe(false);
});

test.runIf(fs.existsSync('/proc/self/fd'))('WSP-64 a folder in which a process still stands is thrown away', async () => {
  await using pooled = await makePooled();
  let child: ReturnType<typeof spawn> | undefined;
  const before = await warmUse(pooled, 'r', (dir) => {
    child = spawn('sleep', ['60'], { cwd: path.join(dir, 'a'), stdio: 'ignore' });
  });
  const { dir } = await compare(pooled, pooled.base);
  expect(inode(dir, 'f/seven.txt')).not.toBe(before.get('f/seven.txt'));
  child?.kill('SIGKILL');
});

test('WSP-65 other rules of checkout, or attributes that changed, cost the folder', async () => {
  await using pooled = await makePooled();
  const { seed } = pooled.setting;
  await warmUse(pooled, 'r', () => {});
  git(seed.dir, 'config', 'core.eol', 'crlf');
  pooled.setting.checkpoint();
  await compare(pooled, pooled.base);
  await pooled.workspaces.release('again', []);
  await pooled.workspaces.free('fresh');
  write(seed.dir, { '.gitattributes': '* text=auto\n' });
  git(seed.dir, 'add', '.gitattributes');
  git(seed.dir, 'commit', '-qm', 'attributes');
  pooled.setting.checkpoint();
  const { dir } = await compare(pooled, commitSha(git(seed.dir, 'rev-parse', 'HEAD')));
  expect(fs.readFileSync(path.join(dir, 'g/h/eight.txt'), 'utf8')).toBe('eight\r\n');
});

test('WSP-66 spare folders are filled in advance and used; those of an older commit go', async () => {
  await using pooled = await makePooled();
  expect(await pooled.pool.warm(2, pooled.base)).toBe(2);
  expect(await pooled.pool.warm(1, pooled.next)).toBe(1);
  await atRest();
  const homes = fs.readdirSync(path.join(pooled.setting.stateHome, 'pool')).filter((name) => name.startsWith('folder-'));
  expect(homes).toHaveLength(1);
  await compare(pooled, pooled.next);
  expect(fs.readdirSync(path.join(pooled.setting.stateHome, 'pool')).filter((name) => name.startsWith('folder-'))).toEqual([]);
});

test('WSP-67 a name that is no text, and a filter that writes files, are left to the removal of old', async () => {
  await using pooled = await makePooled();
  await warmUse(pooled, 'r', (dir) => {
    execFileSync('sh', ['-c', String.raw`mkdir ignored && touch "ignored/$(printf 'bad\377name')"`], { cwd: dir });
  });
  await compare(pooled, pooled.base);
});

test('WSP-68 a small checkout is neither kept nor made in advance', async () => {
  await using pooled = await makePooled(2_000);
  await use(pooled, 'r1', () => {});
  expect(await pooled.pool.warm(2, pooled.base)).toBe(0);
  expect(fs.existsSync(path.join(pooled.setting.stateHome, 'pool', 'runs'))).toBe(false);
  await compare(pooled, pooled.base);
});
