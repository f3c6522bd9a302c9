// Joins the parts: the one place that builds concrete things.
import { randomBytes, randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import path from 'node:path';
import os from 'node:os';
import { agentEnvironment, createAgent, type AgentAdapter } from '../agent/index.ts';
import { promptFor } from '../config/index.ts';
import { epochMs, newRunId, type CommitSha, type EpochMs } from '../core/ids.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import { createDiscoverer } from '../discover/index.ts';
import { CancelledError, openEngine, runJobsFolder, type Engine } from '../journal/index.ts';
import { createLander } from '../land/index.ts';
import { interrupted } from '../loop/read.ts';
import type { LoopParts } from '../loop/index.ts';
import { createProcessHost, type ProcessHost, type ProcessSpec } from '../process/index.ts';
import {
  checkEnvironment,
  createCheckRunner,
  createEvidenceStore,
  createVerifier,
  readTestReport,
  type RunProcess,
} from '../verify/index.ts';
import {
  changedPaths,
  createGit,
  createPool,
  createWorkspaces,
  differences,
  fingerprintCheckout,
  gitSetupChanges,
  readFileAt,
  readGitSetup,
  resolveBase,
  treeOf,
  type WorkspaceManager,
} from '../workspace/index.ts';
import { lazyForge } from './forge.ts';
import type { Place } from './place.ts';
import { entryArgv } from './entries.ts';
import { runsWithJobs, tidyStateHome } from './tidy-state-home.ts';

export interface Cycle extends AsyncDisposable {
  readonly engine: Engine;
  readonly parts: LoopParts;
  readonly processes: ProcessHost;
  /** Ends discovery and every run of this process; they go on with the next `gyre run`. */
  interrupt(): Promise<void>;
}

export interface ComposeOptions {
  readonly place: Place;
  /** Absolute folder that holds `.gyre`: scripts of the scripted agent are looked up there. */
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

const clock = (): EpochMs => epochMs(Date.now());

export const openCycle = async ({ place, home, env }: ComposeOptions): Promise<Cycle> => {
  const { repository, stateHome } = place;
  const processes = createProcessHost({ shim: entryArgv('shim'), cacheDir: path.join(stateHome, 'cache') });
  const engine = await openEngine({ stateHome, processes, clock, chance: Math.random });
  await tidyStateHome({
    stateHome,
    keepJobs: jobsToKeep(engine),
    endProcesses: (marker) => processes.sweep(marker),
    isRunning: async (jobDir) => (await processes.inspect(jobDir)) === 'running',
  });
  const evidence = createEvidenceStore(path.join(stateHome, 'evidence'));
  const pool = createPool({ repository, dir: path.join(stateHome, 'pool') });
  const workspaces = createWorkspaces({ repository, stateHome, clock, pool });
  const readFileOf: LoopParts['readFile'] = async (commit, file) => (await readFileAt(repository, commit, file))?.toString('utf8');
  const checks = createCheckRunner({ workspaces, evidence, stateHome, env, readReport: readTestReport });
  const stopping = new AbortController();
  const forge = lazyForge({ root: repository.root, home, env });
  const parts: LoopParts = {
    engine,
    workspaces,
    evidence,
    clock,
    verifier: createVerifier({ checks, evidence, readFileAt: readFileOf, tools: { node: process.versions.node } }),
    lander: createLander({
      repository,
      stateHome,
      pullRequests: async () => (await forge()).pullRequests,
      pause: (ms) => delay(ms),
    }),
    notes: async () => (await forge()).notes,
    discoverer: createDiscoverer({
      checks,
      readFile: readFileOf,
      withCheckout: (commit, use) => inCleanRoom(workspaces, commit, use),
      issues: async () => (await forge()).issues,
      env: checkEnvironment(env, {}),
    }),
    agentFor: (loop) => agentOf(loop, { home, env }),
    promptFor,
    resolveBase: (target) => resolveBase(repository, target),
    readFile: readFileOf,
    fingerprint: () => fingerprintCheckout(repository),
    differences,
    gitSetup: () => readGitSetup(repository),
    gitSetupChanges,
    runProcess: tickProcesses({ processes, stateHome, signal: stopping.signal }),
    setupSpec: (request) => setupSpec(request, env),
    sweep: (marker) => processes.sweep(marker),
    readFileBytes: (file) => readFile(file),
    candidateOf: async (commit, base) => ({
      commit,
      base,
      tree: await treeOf(createGit(repository.root), commit),
      changed: await changedPaths(repository, base, commit),
      leftOut: [],
      unfinished: '',
      agentCommits: 0,
      notes: [],
    }),
    stopping: stopping.signal,
    newRunId: () => newRunId(clock(), randomInt(2 ** 40)),
  };
  return {
    engine,
    parts,
    processes,
    interrupt: async () => {
      stopping.abort();
      await engine.cancelAll(interrupted);
    },
    [Symbol.asyncDispose]: async () => {
      await engine[Symbol.asyncDispose]();
      await pool.close();
    },
  };
};

const jobsToKeep = (engine: Engine): ReadonlySet<string> => {
  const runs = engine.reader.runs();
  const open = runs.filter((run) => run.endedAt === undefined);
  return new Set([...open, ...runs.slice(-runsWithJobs)].map((run) => runJobsFolder(run.id)));
};

/** Builds the agent a loop names. */
export const agentOf = (loop: LoopDefinition, { home, env }: Pick<ComposeOptions, 'home' | 'env'>): AgentAdapter =>
  createAgent(loop.agent, { env, home: os.homedir(), scriptRunner: entryArgv('scripted-runner'), scriptDir: home });

const setupSpec = (
  { dir, prefix, command, timeoutMs, marker }: Parameters<LoopParts['setupSpec']>[0],
  env: NodeJS.ProcessEnv,
): ProcessSpec => ({
  command: 'sh',
  args: ['-c', command],
  cwd: prefix === '' ? dir : path.join(dir, prefix),
  env: agentEnvironment(env, []),
  stdin: { kind: 'none' },
  limits: { deadlineMs: timeoutMs, idleMs: undefined, graceMs: 2_000, outputBytes: 2_000_000 },
  marker,
  whenOwnerDies: 'end',
  askSignal: 'SIGTERM',
});

/** A checkout of a commit for as long as it is used. */
const inCleanRoom = async <T>(workspaces: WorkspaceManager, commit: CommitSha, use: (dir: string) => Promise<T>): Promise<T> => {
  const name = `discover-${randomBytes(4).toString('hex')}`;
  const { dir } = await workspaces.cleanRoom(name, commit);
  try {
    return await use(dir);
  } finally {
    await workspaces.discardCleanRoom(name);
  }
};

/** Processes of a tick belong to no run: each gets a job folder of its own and ends with the engine. */
const tickProcesses = ({
  processes,
  stateHome,
  signal,
}: {
  readonly processes: ProcessHost;
  readonly stateHome: string;
  readonly signal: AbortSignal;
}): RunProcess => {
  const tick = `tick-${Date.now().toString(36)}-${randomBytes(3).toString('hex')}`;
  let count = 0;
  return async (key, spec) => {
    count += 1;
    const running = await processes.open(
      path.join(stateHome, 'jobs', tick, `${count}-${key.replace(/[^a-zA-Z0-9]+/g, '-').slice(0, 60)}`),
      spec,
    );
    const end = (): void => running.end('cancelled');
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    const result = await running.result;
    signal.removeEventListener('abort', end);
    if (signal.aborted) throw new CancelledError(interrupted);
    return result;
  };
};
