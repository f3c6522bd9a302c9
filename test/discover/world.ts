import { execFile, spawn } from 'node:child_process';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { commitSha, evidenceHash, type CommitSha } from '../../src/core/ids.ts';
import type { DiscoverEntry, LoopDefinition } from '../../src/core/loop-definition.ts';
import { manualTrigger } from '../../src/core/trigger.ts';
import type { TestReport, TestResult } from '../../src/core/test-report.ts';
import type { CheckObservation } from '../../src/core/verdict.ts';
import type { DiscoverParts, DiscoverRequest } from '../../src/discover/index.ts';
import type { ProcessResult } from '../../src/process/index.ts';
import type { CheckRunner, RunProcess } from '../../src/verify/index.ts';

const run = promisify(execFile);

export const base = commitSha('a'.repeat(40));

/** One observed run of a command that ended by itself. */
export const observation = (part: Partial<CheckObservation> = {}): CheckObservation => ({
  command: 'npm test',
  cwd: '/room/1',
  end: 'ran',
  exitCode: 1,
  signal: null,
  durationMs: 5,
  report: { read: 'no-format' },
  output: 'output of the command',
  outputHash: evidenceHash('0'.repeat(64)),
  problem: '',
  ...part,
});

/** A report of the named tests: `red`, `green` or `skip` before each id. */
export const report = (...lines: readonly string[]): TestReport => ({
  read: 'yes',
  format: 'tap',
  tests: lines.map((line): TestResult => {
    const id = line.slice(line.indexOf(' ') + 1);
    const outcome = line.startsWith('red') ? 'failed' : line.startsWith('green') ? 'passed' : 'skipped';
    return { id, name: id, file: undefined, outcome, message: outcome === 'failed' ? `${id} went wrong` : '' };
  }),
});

export const loopOf = (discover: readonly DiscoverEntry[], verify: LoopDefinition['verify'] = []): LoopDefinition => ({
  name: 'fix',
  description: '',
  file: '.gyre/loops/fix.md',
  discover,
  goal: '',
  agent: { use: 'scripted', script: 'a.yaml' },
  workspace: { setup: undefined, setupTimeoutMs: 60_000 },
  verify,
  protect: [],
  stop: {
    attempts: 4,
    noProgress: 2,
    sameFailure: 3,
    timeMs: 60_000,
    budgetUsd: undefined,
    budgetTokens: undefined,
    sessionMs: 60_000,
    idleMs: 60_000,
    resultGraceMs: 1_000,
    outputBytes: 1_000_000,
  },
  land: { as: 'branch', target: undefined, sign: 'auto' },
  parallel: 1,
  body: '',
  bodyLine: 1,
  triggers: [manualTrigger],
});

/** A check runner that gives recorded runs and notes what it was asked. */
export const recordedChecks = (
  runs: readonly CheckObservation[],
): { readonly checks: CheckRunner; readonly asked: Parameters<CheckRunner['baseline']>[0][] } => {
  const asked: Parameters<CheckRunner['baseline']>[0][] = [];
  const checks: CheckRunner = {
    observe: () => Promise.reject(new Error('Discovery runs checks on base only.')),
    baseline: (request) => {
      asked.push(request);
      return Promise.resolve({ commit: request.commit, runs });
    },
  };
  return { checks, asked };
};

/** Parts of which nothing may be used but what a test puts in. */
export const partsOf = (part: Partial<DiscoverParts>): DiscoverParts => ({
  checks: {
    observe: () => Promise.reject(new Error('No check was expected.')),
    baseline: () => Promise.reject(new Error('No check was expected.')),
  },
  readFile: () => Promise.reject(new Error('No file was expected to be read.')),
  withCheckout: () => Promise.reject(new Error('No checkout was expected.')),
  issues: () => Promise.reject(new Error('No issue was expected to be read.')),
  env: { PATH: process.env['PATH'] ?? '' },
  ...part,
});

export const noProcess: RunProcess = () => Promise.reject(new Error('No process was expected.'));

export const requestOf = (discover: readonly DiscoverEntry[], part: Partial<DiscoverRequest> = {}): DiscoverRequest => ({
  loop: loopOf(discover),
  base,
  prefix: '',
  run: noProcess,
  ...part,
});

export const testsEntry = (command = 'npm test', times = 2): DiscoverEntry => ({
  from: 'tests',
  command,
  report: { format: undefined, file: undefined },
  times,
  timeoutMs: 60_000,
});

/** A folder of its own with an odd name, removed when the scope ends. */
export const temporaryFolder = async (): Promise<AsyncDisposable & { readonly dir: string }> => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'gyre-discover é '));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
};

const streamOf = async (file: string): Promise<ProcessResult['stdout']> => {
  const { size } = await stat(file);
  return { path: file, bytesSeen: size, bytesKept: size, cut: false };
};

/** Runs real processes, their streams kept in files of `folder`. */
export const realProcesses =
  (folder: string): RunProcess =>
  async (key, spec) => {
    const [out, err] = ['out', 'err'].map((name) => path.join(folder, `${key.replaceAll('/', '-')}.${name}`)) as [string, string];
    const [outFile, errFile] = [await open(out, 'w'), await open(err, 'w')];
    const startedAt = Date.now();
    const child = spawn(spec.command, spec.args, { cwd: spec.cwd, env: spec.env, stdio: ['ignore', outFile.fd, errFile.fd] });
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = child.kill('SIGKILL');
    }, spec.limits.deadlineMs ?? 60_000);
    const [exitCode, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, by) => resolve([code, by]));
    });
    clearTimeout(timer);
    await outFile.close();
    await errFile.close();
    const endedAt = Date.now();
    return {
      end: timedOut ? 'deadline' : 'exited',
      exitCode,
      signal,
      startedAt,
      endedAt,
      wallMs: endedAt - startedAt,
      suspendedMs: 0,
      orphansKilled: 0,
      problem: '',
      stdout: await streamOf(out),
      stderr: await streamOf(err),
    };
  };

/** Git in a folder, under a fixed identity and no one's configuration. */
export const git = async (dir: string, ...args: readonly string[]): Promise<string> => {
  const who = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.com', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.com' };
  const env = { PATH: process.env['PATH'] ?? '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', ...who };
  return (await run('git', args as string[], { cwd: dir, env })).stdout;
};

/** Reads a file of a commit, as the workspace stage does. */
export const fileInCommit =
  (dir: string) =>
  async (commit: CommitSha, file: string): Promise<string | undefined> => {
    try {
      return await git(dir, 'show', `${commit}:${file}`);
    } catch {
      return undefined;
    }
  };
