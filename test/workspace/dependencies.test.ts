import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { CommitSha } from '../../src/core/ids.ts';
import { createDependencies, type Dependencies, type ProofMemory } from '../../src/workspace/index.ts';
import { git, makeRepository, useIsolatedHome, write } from '../testkit/repositories.ts';
import { setUp, type Setting } from './setting.ts';

useIsolatedHome();

const memory = (): ProofMemory & { readonly known: Map<string, string> } => {
  const known = new Map<string, string>();
  return {
    known,
    get: (key) => known.get(key),
    put: async (key, proof) => void (proof === undefined ? known.delete(key) : known.set(key, proof)),
  };
};

const lock = (version: number): string => `{"lockfileVersion":3,"version":${version}}\n`;
/** Stands for `npm ci`: a file, a program, a link and a folder that takes nothing new. */
const install =
  'mkdir -p node_modules/dep/bin node_modules/.bin && cp package-lock.json node_modules/dep/lock && echo main > node_modules/dep/main.js && printf "#!/bin/sh\\necho ran\\n" > node_modules/dep/bin/run && chmod 755 node_modules/dep/bin/run && ln -s ../dep/bin/run node_modules/.bin/run && chmod 555 node_modules/dep/bin';

interface Lab extends AsyncDisposable {
  readonly setting: Setting;
  readonly dependencies: Dependencies;
  readonly proofs: ReturnType<typeof memory>;
  readonly home: string;
  /** A new clean room, filled. */
  room(name: string, request?: Request): Promise<{ readonly dir: string; readonly filled: string; readonly ran: number }>;
  /** The same in a folder that is there. */
  fill(dir: string, request?: Request): Promise<{ readonly filled: string; readonly ran: number }>;
}

interface Request {
  readonly command?: string;
  readonly mayKeep?: boolean;
  readonly commit?: CommitSha;
  readonly env?: Readonly<Record<string, string>>;
  readonly folders?: readonly string[];
}

const makeLab = async (files: Readonly<Record<string, string>> = {}): Promise<Lab> => {
  const seed = makeRepository();
  write(seed.dir, { '.gitignore': 'node_modules\n', 'package.json': '{"name":"a"}\n', 'package-lock.json': lock(1), ...files });
  git(seed.dir, 'add', '-A');
  git(seed.dir, 'commit', '-qm', 'packages');
  const setting = await setUp(seed, { base: git(seed.dir, 'rev-parse', 'HEAD') });
  const proofs = memory();
  const home = path.join(setting.stateHome, 'deps');
  const dependencies = createDependencies({ repository: setting.repository, dir: home, proofs });
  const fill: Lab['fill'] = async (dir, { command = install, mayKeep = true, env = {}, folders = ['node_modules'] } = {}) => {
    let ran = 0;
    const filled = await dependencies.provide({ dir, prefix: '', command, env, folders, mayKeep }, async () => {
      ran += 1;
      try {
        execFileSync('sh', ['-c', command], { cwd: dir, stdio: 'ignore' });
        return true;
      } catch {
        return false;
      }
    });
    return { filled: filled.from === 'kept' ? 'kept' : filled.why, ran };
  };
  return {
    setting,
    dependencies,
    proofs,
    home,
    fill,
    room: async (name, request = {}) => {
      const { dir } = await setting.workspaces.cleanRoom(name, request.commit ?? setting.base);
      return { dir, ...(await fill(dir, request)) };
    },
    [Symbol.asyncDispose]: () => setting[Symbol.asyncDispose](),
  };
};

/** Names, kinds, permissions, names of a file, bytes. */
const look = (dir: string): Record<string, string> => {
  const found: Record<string, string> = {};
  for (const entry of fs.readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const stat = fs.lstatSync(file);
    const body = stat.isFile() ? fs.readFileSync(file, 'utf8') : stat.isSymbolicLink() ? fs.readlinkSync(file) : '';
    found[path.relative(dir, file)] = `${stat.mode.toString(8)} ${stat.isDirectory() ? '' : stat.nlink} ${body}`;
  }
  return found;
};

test('DEP-01 the second checkout of the same lock file gets the same folders and runs no set-up', async () => {
  await using lab = await makeLab();
  const first = await lab.room('one');
  expect([first.filled, first.ran]).toEqual(['', 1]);
  const second = await lab.room('two', { mayKeep: false });
  expect([second.filled, second.ran]).toEqual(['kept', 0]);
  expect(look(path.join(second.dir, 'node_modules'))).toEqual(look(path.join(first.dir, 'node_modules')));
  expect(execFileSync(path.join(second.dir, 'node_modules/.bin/run'), { encoding: 'utf8' })).toBe('ran\n');
  expect(git(second.dir, 'status', '--porcelain')).toBe('');
  const { dir } = await lab.setting.workspaces.open('r1', lab.setting.base);
  expect(await lab.fill(dir)).toEqual({ filled: 'kept', ran: 0 });
});

test('DEP-02 L13 one attempt never alters another: writing, replacing, permissions, deleting stay in its own folder', async () => {
  await using lab = await makeLab();
  const { dir } = await lab.setting.workspaces.open('r1', lab.setting.base);
  await lab.fill(dir);
  const clean = look(path.join(dir, 'node_modules'));
  const acts: readonly ((modules: string) => void)[] = [
    (modules) => fs.appendFileSync(path.join(modules, 'dep/main.js'), 'evil\n'),
    (modules) => fs.chmodSync(path.join(modules, 'dep/main.js'), 0o777),
    (modules) => fs.rmSync(path.join(modules, '.bin'), { recursive: true }),
    (modules) => {
      fs.rmSync(path.join(modules, 'dep/lock'));
      fs.symlinkSync('/etc/hostname', path.join(modules, 'dep/lock'));
    },
    (modules) => {
      fs.renameSync(modules, `${modules}.away`);
      fs.symlinkSync(lab.setting.seed.home, modules);
    },
  ];
  const one = await lab.room('one', { mayKeep: false });
  const beside = await lab.room('beside', { mayKeep: false });
  expect([one.ran, beside.ran]).toEqual([0, 0]);
  for (const act of acts) {
    act(path.join(one.dir, 'node_modules'));
    expect(look(path.join(beside.dir, 'node_modules'))).toEqual(clean);
    // A folder that an agent has changed is replaced as a whole, and what a link in its place points to is left alone.
    expect(await lab.fill(one.dir, { mayKeep: false })).toEqual({ filled: 'kept', ran: 0 });
    expect(look(path.join(one.dir, 'node_modules'))).toEqual(clean);
  }
  expect(fs.existsSync(lab.setting.seed.dir)).toBe(true);
});

const folderOf = (lab: Lab): string => path.join(lab.home, [...lab.proofs.known.keys()][0] ?? 'none');

const poisons: readonly (readonly [string, (kept: string) => void])[] = [
  [
    'bytes with size and time put back',
    (kept) => {
      const file = path.join(kept, 'folders/0/dep/main.js');
      const { atime, mtime } = fs.statSync(file);
      fs.writeFileSync(file, 'evil\n');
      fs.utimesSync(file, atime, mtime);
    },
  ],
  ['permissions', (kept) => fs.chmodSync(path.join(kept, 'folders/0/dep/main.js'), 0o755)],
  ['a new file', (kept) => fs.writeFileSync(path.join(kept, 'folders/0/dep/more.js'), 'evil')],
  ['a second name of a file', (kept) => fs.linkSync(path.join(kept, 'folders/0/dep/main.js'), path.join(kept, 'second'))],
  ['a missing file', (kept) => fs.rmSync(path.join(kept, 'folders/0/dep/lock'))],
  [
    'a link in place of a folder',
    (kept) => {
      fs.renameSync(path.join(kept, 'folders/0'), path.join(kept, 'moved'));
      fs.symlinkSync(path.join(kept, 'moved'), path.join(kept, 'folders/0'));
    },
  ],
  [
    'a list that fits the poison',
    (kept) => {
      fs.writeFileSync(path.join(kept, 'folders/0/dep/main.js'), 'evil\n');
      const manifest = JSON.parse(fs.readFileSync(path.join(kept, 'manifest.json'), 'utf8')) as { marks: string[][] };
      const stat = fs.lstatSync(path.join(kept, 'folders/0/dep/main.js'), { bigint: true });
      const mark = `file ${stat.dev}:${stat.ino} ${stat.ctimeNs} ${stat.mode} ${stat.uid} ${stat.size} ${stat.nlink}`;
      manifest.marks = manifest.marks.map(([file = '', old = '']) => [file, file === '0/dep/main.js' ? mark : old]);
      fs.writeFileSync(path.join(kept, 'manifest.json'), JSON.stringify(manifest));
    },
  ],
  ['no list', (kept) => fs.rmSync(path.join(kept, 'manifest.json'))],
  ['nothing at all', (kept) => fs.rmSync(kept, { recursive: true })],
];

test('DEP-03 kept folders that were changed, by whatever means, are never used: the set-up runs, and its folders are kept anew', async () => {
  await using lab = await makeLab();
  const command = install.replace(' && chmod 555 node_modules/dep/bin', '');
  const clean = look(path.join((await lab.room('first', { command })).dir, 'node_modules'));
  for (const [name, poison] of poisons) {
    poison(folderOf(lab));
    const next = await lab.room(`after-${name.replaceAll(' ', '-')}`, { command });
    expect([name, next.ran, next.filled]).toEqual([name, 1, '']);
    expect(look(path.join(next.dir, 'node_modules'))).toEqual(clean);
  }
  expect((await lab.room('last', { command })).filled).toBe('kept');
});

test('DEP-04 another lock file, manifest, command, named script or variable is another set-up; any other file is not', async () => {
  await using lab = await makeLab({ 'scripts/install.sh': install });
  const { seed } = lab.setting;
  const commit = (files: Readonly<Record<string, string>>): CommitSha => {
    write(seed.dir, files);
    git(seed.dir, 'add', '-A');
    git(seed.dir, 'commit', '-qm', 'change');
    const made = git(seed.dir, 'rev-parse', 'HEAD') as CommitSha;
    git(seed.dir, 'reset', '-q', '--hard', lab.setting.base);
    return made;
  };
  const script = 'sh scripts/install.sh';
  await lab.room('base');
  await lab.room('script', { command: script });
  const ran = async (name: string, request: Request): Promise<number> => (await lab.room(name, { ...request, mayKeep: false })).ran;
  expect(await ran('source', { commit: commit({ 'src/sum.mjs': 'other\n' }) })).toBe(0);
  expect(await ran('lock', { commit: commit({ 'package-lock.json': lock(2) }) })).toBe(1);
  expect(await ran('manifest', { commit: commit({ 'packages/b/package.json': '{}' }) })).toBe(1);
  expect(await ran('patch', { commit: commit({ 'patches/dep.patch': 'x' }) })).toBe(1);
  expect(await ran('command', { command: `${install} && true` })).toBe(1);
  expect(await ran('variable', { env: { NODE_ENV: 'production' } })).toBe(1);
  expect(await ran('temporary', { env: { TMPDIR: '/tmp/x', CI: 'true' } })).toBe(0);
  expect(await ran('named', { command: script })).toBe(0);
  expect(await ran('named-other', { command: script, commit: commit({ 'scripts/install.sh': `${install} # other` }) })).toBe(1);
  lab.setting.checkpoint();
});

test('DEP-05 what an agent may have touched, a failed set-up, and one that makes more are not kept; the reason is said', async () => {
  await using lab = await makeLab({ 'tracked/x': 'x' });
  const refused = async (name: string, request: Request): Promise<string> => (await lab.room(name, request)).filled;
  expect(await refused('candidate', { mayKeep: false })).toContain('not one of a commit of yours');
  expect(await refused('failed', { command: 'mkdir node_modules; false' })).toContain('failed');
  expect(await refused('more', { command: `${install} && echo x > built.js` })).toContain('built.js');
  expect(await refused('changed', { command: `${install} && echo x >> package-lock.json` })).toContain('package-lock.json');
  expect(await refused('link', { command: 'mkdir real && touch real/x && ln -s real node_modules' })).toContain('real');
  expect(await refused('only-link', { command: 'ln -s /tmp node_modules' })).toContain('made none');
  expect(await refused('place', { command: `${install} && pwd > node_modules/dep/place.pth` })).toContain('place.pth names the checkout');
  expect(await refused('pipe', { command: `${install} && mkfifo node_modules/pipe` })).toContain('neither a file');
  expect(await refused('committed', { folders: ['tracked'] })).toContain('committed files');
  expect(lab.proofs.known.size).toBe(0);
  expect(fs.existsSync(lab.home) ? fs.readdirSync(lab.home) : []).toEqual([]);
});

test('DEP-06 a commit that puts a link in the way gets the set-up command, and nothing is written behind the link', async () => {
  await using lab = await makeLab({ 'pkg/package.json': '{}' });
  const { seed } = lab.setting;
  const folders = ['pkg/node_modules'];
  const command = 'mkdir -p pkg/node_modules && echo x > pkg/node_modules/x';
  expect((await lab.room('one', { folders, command })).filled).toBe('');
  const outside = path.join(seed.home, 'outside');
  fs.mkdirSync(path.join(outside, 'node_modules'), { recursive: true });
  fs.writeFileSync(path.join(outside, 'node_modules/mine'), 'mine');
  git(seed.dir, 'rm', '-rq', 'pkg');
  fs.symlinkSync(outside, path.join(seed.dir, 'pkg'));
  git(seed.dir, 'add', '-A');
  git(seed.dir, 'commit', '-qm', 'link');
  const commit = git(seed.dir, 'rev-parse', 'HEAD') as CommitSha;
  expect((await lab.room('two', { folders, command: 'true', commit })).filled).toContain('behind a link');
  expect(fs.readdirSync(path.join(outside, 'node_modules'))).toEqual(['mine']);
  lab.setting.checkpoint();
});

test('DEP-07 half-made folders and those of another engine go at the start; the least recently used go first', async () => {
  await using lab = await makeLab();
  await lab.room('one');
  await lab.room('two', { command: `${install} # 2` });
  fs.mkdirSync(path.join(lab.home, 'new-half/folders/0'), { recursive: true });
  fs.mkdirSync(path.join(lab.home, 'a'.repeat(64), 'folders'), { recursive: true });
  await lab.dependencies.tidy();
  const kept = await lab.dependencies.list();
  expect(fs.readdirSync(lab.home).toSorted()).toEqual(kept.map((one) => one.key).toSorted());
  expect(kept).toHaveLength(2);
  await lab.room('one-again');
  const [first] = kept.toSorted((a, b) => a.bytes - b.bytes);
  expect(await lab.dependencies.shrink(first?.bytes ?? 0)).toBeLessThanOrEqual(kept[0]?.bytes ?? 0);
  expect((await lab.room('one-more')).ran).toBe(0);
  expect((await lab.room('two-more', { command: `${install} # 2` })).ran).toBe(1);
});
