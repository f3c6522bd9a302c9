// A small real world for the tests of verify: processes on child_process, clean rooms and candidates on git, one reader of TAP.
import { execFile, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { commitSha, taskKey, type CommitSha } from '../../src/core/ids.ts';
import type { CheckDefinition } from '../../src/core/loop-definition.ts';
import type { Task, TaskProof } from '../../src/core/task.ts';
import type { TestResult } from '../../src/core/test-report.ts';
import type { ProcessResult } from '../../src/process/index.ts';
import {
  createCheckRunner,
  createEvidenceStore,
  createVerifier,
  type ReadReport,
  type RunProcess,
  type VerifyRequest,
  type WorkspaceForChecks,
} from '../../src/verify/index.ts';
import type { Candidate } from '../../src/workspace/index.ts';

const run = promisify(execFile);
const identity = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@localhost', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@localhost' };

export const git = async (cwd: string, ...args: string[]): Promise<string> => {
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', ...identity };
  return (await run('git', args, { cwd, env, maxBuffer: 20_000_000 })).stdout;
};

export const tempFolder = async (name = 'verify'): Promise<string> => mkdtemp(path.join(os.tmpdir(), `gyre-${name}-`));

export const write = async (dir: string, files: Readonly<Record<string, string | undefined>>): Promise<void> => {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(dir, name);
    await mkdir(path.dirname(file), { recursive: true });
    if (text === undefined) await rm(file);
    else await writeFile(file, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
};

const streamFile = async (file: string): Promise<ProcessResult['stdout']> => {
  const { size } = await stat(file);
  return { path: file, bytesSeen: size, bytesKept: size, cut: false };
};

/** Runs processes for real: own group, killed as a group at the deadline, streams kept in files. */
export const realProcesses = (
  folder: string,
): { readonly run: RunProcess; readonly keys: string[]; readonly envs: Record<string, string>[] } => {
  const keys: string[] = [];
  const envs: Record<string, string>[] = [];
  let count = 0;
  const runProcess: RunProcess = async (key, spec) => {
    keys.push(key);
    envs.push({ ...spec.env });
    count += 1;
    const job = path.join(folder, 'jobs', String(count));
    await mkdir(job, { recursive: true });
    const files = { stdout: path.join(job, 'stdout'), stderr: path.join(job, 'stderr') };
    const startedAt = Date.now();
    const child = spawn(spec.command, [...spec.args], {
      cwd: spec.cwd,
      env: { ...spec.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const [out, err] = [createWriteStream(files.stdout), createWriteStream(files.stderr)];
    child.stdout.pipe(out);
    child.stderr.pipe(err);
    let end: ProcessResult['end'] = 'exited';
    const { promise, resolve } = Promise.withResolvers<{ code: number | null; signal: string | null; problem: string }>();
    child.on('error', (error) => resolve({ code: null, signal: null, problem: error.message }));
    child.on('close', (code, signal) => resolve({ code, signal, problem: '' }));
    const timer = setTimeout(() => {
      end = 'deadline';
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, spec.limits.deadlineMs ?? 60_000);
    const { code, signal, problem } = await promise;
    clearTimeout(timer);
    if (problem !== '') {
      end = 'not-started';
      out.end();
      err.end();
    }
    await Promise.all([finished(out), finished(err)]);
    const endedAt = Date.now();
    const times = { startedAt, endedAt, wallMs: endedAt - startedAt, suspendedMs: 0, orphansKilled: 0 };
    return {
      end,
      exitCode: code,
      signal,
      ...times,
      problem,
      stdout: await streamFile(files.stdout),
      stderr: await streamFile(files.stderr),
    };
  };
  return { run: runProcess, keys, envs };
};

/** Top-level points of a TAP stream, which is what `node --test --test-reporter=tap` gives for tests outside suites. */
export const readTap: ReadReport = ({ stdout, file }) => {
  const text = file ?? stdout;
  if (!text.startsWith('TAP version')) return { read: 'no-format' };
  if (!/^1\.\.\d+/m.test(text)) return { read: 'broken', format: 'tap', why: 'The plan is missing.' };
  const tests: TestResult[] = [];
  for (const [block = '', not, name = ''] of text.matchAll(/^(not )?ok \d+ - (.*)$(?:\n {2}.*)*/gm)) {
    const skipped = / # (?:SKIP|TODO)/.test(name);
    const id = name.replace(/ # .*$/, '');
    const outcome = skipped ? 'skipped' : not === undefined ? 'passed' : 'failed';
    tests.push({ id, name: id, file: undefined, outcome, message: outcome === 'failed' ? block : '' });
  }
  return { read: 'yes', format: 'tap', tests };
};

export const check = (command: string, more: Partial<CheckDefinition> = {}): CheckDefinition => ({
  name: 'tests',
  command,
  timeoutMs: 50_000,
  env: {},
  report: { format: undefined, file: undefined },
  ...more,
});

export const task = (proof: TaskProof): Task => ({
  key: taskKey('t'),
  title: 'Repair',
  body: '',
  evidence: '',
  priority: 0,
  touches: [],
  trust: 'repository',
  source: 'tests: x',
  proof,
});

const list = async (dir: string): Promise<string[]> => readdir(dir).catch(() => []);

/** Everything the verifier stands on, over one repository that `files` fills. */
export const makeWorld = async (
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string | undefined>> = process.env,
  baselineRuns = 1,
) => {
  const folder = await tempFolder('vérify world');
  const repo = path.join(folder, 'repo');
  const rooms = path.join(folder, 'rooms');
  await mkdir(repo);
  await git(repo, 'init', '-q', '-b', 'main');
  const head = async (): Promise<CommitSha> => commitSha((await git(repo, 'rev-parse', 'HEAD')).trim());
  const commit = async (changes: Readonly<Record<string, string | undefined>>): Promise<CommitSha> => {
    await write(repo, changes);
    await git(repo, 'add', '-A');
    await git(repo, 'commit', '-q', '--allow-empty', '-m', 'x');
    return head();
  };
  const base = await commit(files);

  const readFileAt = async (at: CommitSha, file: string): Promise<string | undefined> => {
    try {
      return await git(repo, 'show', `${at}:${file}`);
    } catch {
      return undefined;
    }
  };
  const workspaces: WorkspaceForChecks = {
    async cleanRoom(name, at, pin) {
      const dir = path.join(rooms, name);
      await rm(dir, { recursive: true, force: true });
      await git(folder, 'clone', '-q', '--no-checkout', repo, dir);
      await git(dir, 'checkout', '-q', '--detach', at);
      for (const file of pin?.paths ?? []) {
        await rm(path.join(dir, file), { force: true });
        if (pin !== undefined && (await readFileAt(pin.from, file)) !== undefined) await git(dir, 'checkout', '-q', pin.from, '--', file);
      }
      return { dir };
    },
    async discardCleanRoom(name) {
      await rm(path.join(rooms, name), { recursive: true, force: true });
    },
  };
  const stateHome = path.join(folder, 'state');
  const evidence = createEvidenceStore(path.join(stateHome, 'evidence'));
  const processes = realProcesses(folder);
  const checks = createCheckRunner({ workspaces, evidence, stateHome, env, readReport: readTap });
  const verifier = createVerifier({ checks, evidence, readFileAt, baselineRuns, tools: { node: process.version } });

  /** A candidate on top of base, as the workspace manager would give it. */
  const candidate = async (changes: Readonly<Record<string, string | undefined>>, more: Partial<Candidate> = {}): Promise<Candidate> => {
    await git(repo, 'checkout', '-q', '--detach', base);
    const made = await commit(changes);
    const changed = (await git(repo, 'diff', '--no-renames', '--name-only', '-z', base, made)).split('\0').filter((name) => name !== '');
    const tree = (await git(repo, 'rev-parse', `${made}^{tree}`)).trim();
    return { commit: made, tree, base, changed, leftOut: [], unfinished: '', agentCommits: 0, notes: [], ...more };
  };
  const verify = (request: Pick<VerifyRequest, 'candidate' | 'checks'> & { proof: TaskProof } & Partial<VerifyRequest>) =>
    verifier.verify({
      run: 'r1',
      attempt: 1,
      task: task(request.proof),
      protect: [],
      prefix: '',
      setup: undefined,
      setupTimeoutMs: 50_000,
      findings: [],
      process: processes.run,
      signal: new AbortController().signal,
      ...request,
    });
  return {
    folder,
    repo,
    base,
    stateHome,
    evidence,
    checks,
    verifier,
    workspaces,
    processes,
    candidate,
    verify,
    observe: (request: Partial<Parameters<typeof checks.observe>[0]> & { check: CheckDefinition }) =>
      checks.observe({
        key: 'k',
        commit: base,
        pin: undefined,
        prefix: '',
        setup: undefined,
        setupTimeoutMs: 50_000,
        run: processes.run,
        ...request,
      }),
    /** What must be empty after every check: clean rooms and temporary folders. */
    async leftovers(): Promise<readonly string[]> {
      return [...(await list(rooms)), ...(await list(path.join(stateHome, 'tmp')))];
    },
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
};
