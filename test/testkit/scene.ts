// A scene of a field report: a seed repository with a bare remote, a fixture agent with a script and a ledger, an isolated home, and the
// real command line run as a process. On leaving, three things are asserted for every scene: the user's checkout is byte-same (L6), no
// process of it is alive (L13), and the journal's chain holds (P1).
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const agentProgram = fileURLToPath(new URL('./fa.mjs', import.meta.url));

/** One scripted step of the fixture agent; see fa.mjs. */
export type AgentStep = Readonly<Record<string, unknown>>;

export interface LedgerEntry {
  readonly call: number;
  readonly kind: 'start' | 'end' | 'child';
  readonly pid: number;
  readonly at: number;
  readonly cwd?: string;
  readonly argv?: readonly string[];
  readonly env?: readonly string[];
  readonly promptBytes?: number;
  readonly promptSha256?: string;
  readonly prompt?: string;
  readonly child?: number;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams, for messages. */
  readonly all: string;
}

export interface SceneOptions {
  /** Name of the default branch. */
  readonly branch?: string;
  /** Files of the first commit instead of the seed's. */
  readonly files?: Readonly<Record<string, string>>;
  /** False where the scene itself changes the checkout on purpose. */
  readonly checkoutStays?: boolean;
}

export interface Scene extends AsyncDisposable {
  readonly root: string;
  readonly repo: string;
  readonly remote: string;
  readonly env: NodeJS.ProcessEnv;
  git(...args: string[]): string;
  /** Scripts the fixture agent and returns the command that runs it. */
  agent(calls: readonly (readonly AgentStep[])[], last?: 'repeat' | 'stop'): string;
  /** Writes `.gyre/loops/fix.md`: front matter as an object over the scene's defaults. */
  loop(front: Readonly<Record<string, unknown>>, body?: string): Promise<void>;
  gyre(...args: string[]): Promise<Ran>;
  /** The same, started in another folder. */
  gyreIn(cwd: string, ...args: string[]): Promise<Ran>;
  /** Starts the command line and leaves it running. */
  start(...args: string[]): ChildProcess;
  /** The same with the standard input held open by a pipe nobody writes to. */
  startWith(stdin: 'ignore' | 'pipe', ...args: string[]): ChildProcess;
  ledger(): readonly LedgerEntry[];
  calls(): readonly LedgerEntry[];
  json<T>(...args: string[]): Promise<T>;
  /** Bytes of HEAD, index, config, stash and every file of the checkout, as one text. */
  checkout(): string;
  /** Processes whose folder, arguments or environment name this scene. */
  alive(): readonly number[];
  /** Takes the present checkout as the one that has to stay. */
  settle(): void;
}

export const seedFiles = {
  'calc.mjs': 'export const add = (a, b) => a - b;\nexport const twice = (a) => a * 2;\n',
  check:
    "#!/bin/sh\nexec node -e \"import('./calc.mjs').then(({ add, twice }) => { const ok = [add(2, 3) === 5, twice(4) === 8]; const passed = ok.filter(Boolean).length; console.log(passed + ' passed, ' + (2 - passed) + ' failed'); if (add(2, 3) !== 5) console.log('add(2, 3): expected 5, got ' + add(2, 3)); process.exit(passed === 2 ? 0 : 1); })\"\n",
  'README.md': '# Seed\n',
} as const;

/** The one step that repairs the seed. */
export const fix: AgentStep = { replace: 'calc.mjs', from: 'a - b', to: 'a + b' };

export const makeScene = async (options: SceneOptions = {}): Promise<Scene> => {
  const root = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'gyre scene é-')));
  const repo = path.join(root, 'repo');
  const remote = path.join(root, 'remote.git');
  const home = path.join(root, 'home');
  const ledgerFile = path.join(root, 'ledger.jsonl');
  await fs.mkdir(home);
  await fs.mkdir(repo);
  await fs.writeFile(
    path.join(home, '.gitconfig'),
    '[user]\n\tname = Sam Seed\n\temail = sam@example.invalid\n[init]\n\tdefaultBranch = main\n',
  );
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: home,
    LANG: 'C.UTF-8',
    XDG_STATE_HOME: path.join(root, 'state'),
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: repo, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  const branch = options.branch ?? 'main';
  git('init', '--quiet', `--initial-branch=${branch}`);
  for (const [name, text] of Object.entries(options.files ?? seedFiles)) {
    await fs.mkdir(path.dirname(path.join(repo, name)), { recursive: true });
    await fs.writeFile(path.join(repo, name), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
  git('add', '--all');
  git('commit', '--quiet', '--message', 'seed');
  git('init', '--quiet', '--bare', `--initial-branch=${branch}`, remote);
  git('remote', 'add', 'origin', remote);
  git('push', '--quiet', '--set-upstream', 'origin', branch);

  let expected: string | undefined;
  const running = new Set<ChildProcess>();

  const launch = (cwd: string, stdin: 'ignore' | 'pipe', args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [main, ...args], {
      cwd,
      env,
      stdio: [stdin, 'pipe', 'pipe'],
    });
    running.add(child);
    child.once('close', () => running.delete(child));
    return child;
  };

  const scene: Scene = {
    root,
    repo,
    remote,
    env,
    git,
    agent: (calls, last = 'stop') => {
      const script = path.join(root, `script-${createHash('sha256').update(JSON.stringify(calls)).digest('hex').slice(0, 8)}.json`);
      writeFileSync(script, JSON.stringify({ calls, last }));
      return [process.execPath, agentProgram, script, ledgerFile].map((part) => `'${part}'`).join(' ');
    },
    loop: async (front, body = 'Repair it: {{ task.title }}\n\n{{ task.evidence }}\n') => {
      const { agent, ...rest } = front;
      const merged = {
        discover: [{ tests: './check' }],
        goal: 'The check is green',
        verify: [{ run: './check' }],
        land: { as: 'branch' },
        ...rest,
        ...(agent === undefined ? {} : { agent: typeof agent === 'string' ? { use: 'command', command: agent } : agent }),
      };
      await fs.mkdir(path.join(repo, '.gyre', 'loops'), { recursive: true });
      await fs.writeFile(path.join(repo, '.gyre', 'loops', 'fix.md'), `---\n${JSON.stringify(merged, null, 2)}\n---\n${body}`);
      scene.settle();
    },
    gyre: (...args) => scene.gyreIn(repo, ...args),
    gyreIn: async (cwd, ...args) => {
      const child = launch(cwd, 'ignore', args);
      const out: Buffer[] = [];
      const err: Buffer[] = [];
      child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
      child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
      const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
      const stdout = Buffer.concat(out).toString('utf8');
      const stderr = Buffer.concat(err).toString('utf8');
      return { code, stdout, stderr, all: `${stdout}\n${stderr}` };
    },
    start: (...args) => scene.startWith('ignore', ...args),
    startWith: (stdin, ...args) => launch(repo, stdin, args),
    json: async <T>(...args: string[]): Promise<T> => {
      const ran = await scene.gyre(...args, '--json');
      try {
        return JSON.parse(ran.stdout) as T;
      } catch {
        throw new Error(`no JSON from gyre ${args.join(' ')} (exit ${ran.code}): ${ran.all}`);
      }
    },
    ledger: () =>
      existsSync(ledgerFile)
        ? readFileSync(ledgerFile, 'utf8')
            .split('\n')
            .filter((text) => text !== '')
            .map((text) => JSON.parse(text) as LedgerEntry)
        : [],
    calls: () => scene.ledger().filter((entry) => entry.kind === 'start'),
    checkout: () => checkoutText(repo, env),
    alive: () => processesNaming(root),
    settle: () => {
      expected = scene.checkout();
    },
    [Symbol.asyncDispose]: async () => {
      try {
        for (const child of running) child.kill('SIGKILL');
        if (expected !== undefined && options.checkoutStays !== false) expect(scene.checkout()).toBe(expected);
        const until = Date.now() + 5_000;
        while (scene.alive().length > 0 && Date.now() < until) await delay(100);
        const left = scene.alive().map((pid) => `${pid} ${readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`);
        for (const pid of scene.alive()) process.kill(pid, 'SIGKILL');
        expect(left).toEqual([]);
        if (existsSync(path.join(root, 'state', 'gyre'))) expect((await scene.gyre('journal', 'verify')).all).toContain('chain unbroken');
      } finally {
        await fs.rm(root, { recursive: true, force: true });
      }
    },
  };
  return scene;
};

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

const processesNaming = (root: string): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const texts = [readText(`/proc/${pid}/cmdline`), readText(`/proc/${pid}/environ`)];
      let cwd = '';
      try {
        cwd = readlinkSync(`/proc/${pid}/cwd`);
      } catch {
        // Gone, or not ours to read.
      }
      return [...texts, cwd].some((text) => text.includes(root));
    })
    .map(Number);

const checkoutText = (repo: string, env: NodeJS.ProcessEnv): string => {
  const gitDir = path.join(repo, '.git');
  const digest = (file: string): string => (existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : 'none');
  const git = (...args: string[]): string =>
    execFileSync('git', ['--no-optional-locks', ...args], { cwd: repo, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const files = readdirSync(repo, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.parentPath.startsWith(gitDir) && !path.join(entry.parentPath, entry.name).startsWith(gitDir))
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return `${path.relative(repo, file)} ${entry.isSymbolicLink() ? readlinkSync(file) : entry.isFile() ? digest(file) : 'folder'}`;
    })
    .toSorted();
  return [
    `HEAD ${readText(path.join(gitDir, 'HEAD'))}`,
    `index ${digest(path.join(gitDir, 'index'))}`,
    `config ${digest(path.join(gitDir, 'config'))}`,
    `stash ${git('stash', 'list')}`,
    `head commit ${git('rev-parse', 'HEAD')}`,
    ...files,
  ].join('\n');
};

/** Waits until a condition holds; fails with the sentence when it does not within the bound. */
export const waitFor = async (sentence: string, condition: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> => {
  const until = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > until) throw new Error(`not within ${withinMs} ms: ${sentence}`);
    await delay(25);
  }
};
