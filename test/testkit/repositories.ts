// Real repositories for tests: the seed R0 (one module with one wrong operator, `./check` with two tests) and its odd shapes. Every
// test process gets a home of its own, so that nothing of the machine's git configuration reaches a test.
import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';

const who = '[user]\n\tname = Test Author\n\temail = author@example.invalid\n[init]\n\tdefaultBranch = main\n';
// Empty values hide what /etc/gitconfig may say.
const nobody = '[user]\n\tname =\n\temail =\n[init]\n\tdefaultBranch = main\n';

const made = new Set<string>();

/** A temporary folder by its real path, name with a blank and a letter outside of ASCII; gone at the latest after the test file. */
export const temporaryFolder = (name = 'ä b'): string => {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), `gyre-${name}-`)));
  made.add(dir);
  return dir;
};

export const remove = (dir: string): void => rmSync(dir, { recursive: true, force: true });

/** Gives the test file a home of its own; registers the hooks that set and reset it. */
export const useIsolatedHome = (): { readonly setIdentity: (known: boolean) => void; readonly home: () => string } => {
  const before = { HOME: process.env['HOME'], XDG_CONFIG_HOME: process.env['XDG_CONFIG_HOME'] };
  let home = '';
  beforeAll(() => {
    home = temporaryFolder('home');
    process.env['HOME'] = home;
    process.env['XDG_CONFIG_HOME'] = path.join(home, '.config');
    writeFileSync(path.join(home, '.gitconfig'), who);
  });
  afterAll(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    for (const dir of made) remove(dir);
    made.clear();
  });
  return {
    setIdentity: (known) => writeFileSync(path.join(home, '.gitconfig'), known ? who : nobody),
    home: () => home,
  };
};

const clean = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '',
  XDG_CONFIG_HOME: process.env['XDG_CONFIG_HOME'] ?? '',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
});

/** Runs git as a user or an agent would, and gives its standard output without the last line feed. Throws when it fails. */
export const git = (dir: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], { cwd: dir, env: clean(), stdio: 'pipe', maxBuffer: 1 << 28 })
    .toString('utf8')
    .replace(/\n$/, '');

/** The same, for commands that are meant to fail or may. */
export const tryGit = (dir: string, ...args: readonly string[]): string | undefined => {
  try {
    return git(dir, ...args);
  } catch {
    return undefined;
  }
};

/** Runs a program in a folder with a clean environment; exit code and both streams together. */
export const runIn = (dir: string, program: string, ...args: readonly string[]): { readonly code: number; readonly output: string } => {
  const options: ExecFileSyncOptions = { cwd: dir, env: clean(), stdio: 'pipe' };
  try {
    return { code: 0, output: execFileSync(program, args, options).toString() };
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number | null; stdout: Buffer; stderr: Buffer };
    return { code: status ?? -1, output: `${stdout.toString()}${stderr.toString()}` };
  }
};

/** Writes files below a folder; a name may hold `/`. */
export const write = (dir: string, files: Readonly<Record<string, string | Uint8Array>>): void => {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(dir, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
};

export const commitAll = (dir: string, message: string): string => {
  git(dir, 'add', '-A');
  git(dir, 'commit', '-q', '-m', message);
  return git(dir, 'rev-parse', 'HEAD');
};

/** The module with the wrong operator, and as it is right. */
export const wrongSum = 'export const add = (a, b) => a - b;\n';
export const rightSum = 'export const add = (a, b) => a + b;\n';

const check = `#!/usr/bin/env node
import('./src/sum.mjs').then(({ add }) => {
  const tests = [['adds', add(2, 3) === 5], ['keeps zero', add(0, 0) === 0]];
  for (const [name, good] of tests) console.log((good ? 'ok ' : 'not ok ') + name);
  const failed = tests.filter(([, good]) => !good).length;
  console.log(tests.length - failed + ' passed, ' + failed + ' failed');
  process.exitCode = failed === 0 ? 0 : 1;
});
`;

export interface Shape {
  /** Name of the folder. */
  readonly name?: string;
  readonly branch?: string;
  readonly sha256?: boolean;
  /** Adds a local bare remote called origin, pushed to. */
  readonly remote?: boolean;
  /** Files besides those of R0. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

export interface TestRepository {
  /** Folder that holds everything of the test, state home too. */
  readonly home: string;
  readonly dir: string;
  readonly stateRoot: string;
  readonly base: string;
  /** Bare remote, '' without. */
  readonly remote: string;
}

/** R0 with one commit; `./check` prints "1 passed, 1 failed" and ends with 1. */
export const makeRepository = (shape: Shape = {}): TestRepository => {
  const home = temporaryFolder();
  const dir = path.join(home, shape.name ?? 'projekt ü');
  mkdirSync(dir);
  git(dir, 'init', '-q', '-b', shape.branch ?? 'main', ...(shape.sha256 === true ? ['--object-format=sha256'] : []));
  write(dir, { 'src/sum.mjs': wrongSum, check, 'README.md': '# Seed\n', ...shape.files });
  git(dir, 'add', '-A');
  git(dir, 'update-index', '--chmod=+x', 'check');
  git(dir, 'commit', '-q', '-m', 'Seed');
  git(dir, 'checkout', '-q', '--', '.');
  const remote = shape.remote === true ? path.join(home, 'remote.git') : '';
  if (remote !== '') {
    git(home, 'init', '-q', '--bare', '-b', shape.branch ?? 'main', remote);
    git(dir, 'remote', 'add', 'origin', remote);
    git(dir, 'push', '-q', '-u', 'origin', shape.branch ?? 'main');
  }
  return { home, dir, stateRoot: path.join(home, 'state'), base: git(dir, 'rev-parse', 'HEAD'), remote };
};

/** A staged, an unstaged, an untracked and a stashed change, on a branch of its own. */
export const makeDirty = (dir: string): void => {
  git(dir, 'switch', '-q', '-c', 'feature');
  write(dir, { 'README.md': '# stashed\n' });
  git(dir, 'stash', 'push', '-q');
  write(dir, { 'staged.txt': 'staged\n', 'src/sum.mjs': `${wrongSum}// mine\n`, 'untracked ü.txt': 'untracked\n' });
  git(dir, 'add', 'staged.txt');
};

/** A library repository as the submodule `lib` of another; filled, or as a clone without its submodules. */
export const addSubmodule = (repository: TestRepository): { readonly library: string; readonly base: string } => {
  const library = path.join(repository.home, 'library');
  mkdirSync(library);
  git(library, 'init', '-q', '-b', 'main');
  write(library, { 'value.txt': 'from the library\n' });
  commitAll(library, 'Library');
  git(repository.dir, 'submodule', '--quiet', 'add', library, 'deps/lib');
  return { library, base: commitAll(repository.dir, 'Add submodule') };
};

const digest = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const walk = (dir: string, prefix: string, found: Record<string, string>): void => {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (prefix === '' && entry.name === '.git') continue;
    const file = path.join(dir, entry.name);
    const name = path.posix.join(prefix, entry.name);
    if (entry.isDirectory()) walk(file, name, found);
    else if (entry.isSymbolicLink()) found[name] = `link ${readlinkSync(file)}`;
    else found[name] = `${lstatSync(file).mode.toString(8)} ${digest(readFileSync(file))}`;
  }
};

const bytesOf = (file: string): string => {
  try {
    return digest(readFileSync(file));
  } catch {
    return 'absent';
  }
};

/** Everything L6 speaks of, byte by byte: files outside of .git, HEAD, index, configuration, stash, and the user's branches and tags. */
export const snapshotCheckout = (dir: string): Readonly<Record<string, string>> => {
  const found: Record<string, string> = {};
  const gitDir = git(dir, 'rev-parse', '--absolute-git-dir');
  const common = git(dir, 'rev-parse', '--path-format=absolute', '--git-common-dir');
  if (git(dir, 'rev-parse', '--is-bare-repository') === 'false') walk(git(dir, 'rev-parse', '--show-toplevel'), '', found);
  for (const name of ['HEAD', 'index', 'config.worktree']) found[`.git/${name}`] = bytesOf(path.join(gitDir, name));
  for (const name of ['config', 'logs/refs/stash', 'info/exclude']) found[`.git/${name}`] = bytesOf(path.join(common, name));
  found['refs'] = git(dir, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags', 'refs/stash', 'refs/remotes');
  return found;
};
