// Joins the parts: the one place that builds concrete things.
import { randomBytes, randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import path from 'node:path';
import os from 'node:os';
import { agentEnvironment, createAgent, type AgentAdapter } from '../agent/index.ts';
import { promptFor, type Settings } from '../config/index.ts';
import { epochMs, newRunId, type CommitSha, type EpochMs } from '../core/ids.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import { openClaims } from '../dispatch/index.ts';
import { createDiscoverer } from '../discover/index.ts';
import { CancelledError, openEngine, openStates, runJobsFolder, type Engine, type LoopHandler, type RunHandle } from '../journal/index.ts';
import { createLander } from '../land/index.ts';
import {
  type Breakers,
  createBreakers,
  createDispatcher,
  createTaskClaims,
  createTaskRun,
  createTick,
  type Dispatcher,
  type DispatcherOptions,
  interrupted,
  type LoopParts,
  taskHandler,
  tickHandler,
  type TickReporter,
} from '../loop/index.ts';
import { createProcessHost, isAlive, selfIdentity, type ProcessHost, type ProcessSpec } from '../process/index.ts';
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
  createDependencies,
  createDiskBudget,
  createGit,
  createPool,
  createWorkspaces,
  differences,
  fingerprintCheckout,
  gitSetupChanges,
  type ProofMemory,
  readFileAt,
  readGitSetup,
  resolveBase,
  treeOf,
  type WorkspaceManager,
  type WorkspacePool,
} from '../workspace/index.ts';
import { lazyForge } from './forge.ts';
import type { Place } from './place.ts';
import { entryArgv } from './entries.ts';
import { keepPruned, ticksWithJobs } from './housekeeping.ts';
import { runsWithJobs, tidyStateHome } from './tidy-state-home.ts';

export interface ComposeOptions {
  readonly place: Place;
  readonly env: NodeJS.ProcessEnv;
}

/** All that works without owning the state home. */
export type Tools = Omit<LoopParts, 'engine' | 'reader'> & { readonly processes: ProcessHost; readonly pool: WorkspacePool };

export interface Cycle extends AsyncDisposable {
  readonly engine: Engine;
  readonly parts: LoopParts;
  readonly dispatcher: Dispatcher;
  readonly breakers: Breakers;
  readonly pool: WorkspacePool;
  /** Makes room on the disk; says why there is none. */
  readonly makeRoom: () => Promise<string | undefined>;
  /** What the engine runs. */
  readonly handlers: { readonly tick: LoopHandler; readonly task: LoopHandler };
  /** Runs that an earlier process left open: they go on. */
  readonly recovered: readonly RunHandle[];
  /** Ends every run of this process in order; they go on with the next engine. */
  interrupt(): Promise<void>;
}

const clock = (): EpochMs => epochMs(Date.now());

/**
 * Builds the tools of a repository. Opens nothing that has to be closed.
 * @param proofs of kept dependency folders; without them none are kept, because the state home belongs to another process
 * @param pooled whether folders of finished workspaces are used again
 */
export const createTools = ({ place, env }: ComposeOptions, proofs?: ProofMemory, pooled = false): Tools => {
  const { repository, stateHome } = place;
  const processes = createProcessHost({ shim: entryArgv('shim'), cacheDir: path.join(stateHome, 'cache') });
  const evidence = createEvidenceStore(path.join(stateHome, 'evidence'));
  const pool = createPool({ repository, dir: path.join(stateHome, 'pool') });
  const workspaces = createWorkspaces({ repository, stateHome, clock, ...(pooled ? { pool } : {}) });
  const readFileOf: LoopParts['readFile'] = async (commit, file) => (await readFileAt(repository, commit, file))?.toString('utf8');
  const dependencies = proofs === undefined ? undefined : createDependencies({ repository, dir: path.join(stateHome, 'deps'), proofs });
  const checks = createCheckRunner({ workspaces, evidence, stateHome, env, readReport: readTestReport, dependencies });
  const forge = lazyForge({ root: repository.root, home: place.cwd, env });
  return {
    processes,
    pool,
    ...(dependencies === undefined ? {} : { dependencies }),
    workspaces,
    evidence,
    clock,
    chance: Math.random,
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
    agentFor: (loop, prefix) => agentOf(loop, { home: path.join(repository.root, prefix), env }),
    promptFor,
    resolveBase: (target) => resolveBase(repository, target),
    readFile: readFileOf,
    fingerprint: () => fingerprintCheckout(repository),
    differences,
    gitSetup: () => readGitSetup(repository),
    gitSetupChanges,
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
    newRunId: () => newRunId(clock(), randomInt(2 ** 40)),
  };
};

/**
 * Takes ownership of the state home and goes on with what an earlier process left open.
 * @param reporter gives each run its place to tell what happens
 */
export const openCycle = async (
  options: ComposeOptions & { readonly reporter: TickReporter; readonly settings: Pick<Settings, 'limits' | 'workspace'> },
): Promise<Cycle> => {
  const { settings } = options;
  const { stateHome } = options.place;
  // An agent can write into the state home; what proves the kept folders stands in the journal's chain.
  const proofs: ProofMemory = {
    get: (key) => engine.reader.registerEntry('dependencies', key)?.value as string | undefined,
    put: async (key, value) => void (await engine.put([{ register: 'dependencies', key, value }])),
  };
  const tools = createTools(options, proofs, settings.workspace.warm > 0);
  const { processes } = tools;
  const engine = await openEngine({ stateHome, processes, clock, chance: Math.random });
  try {
    await tidyStateHome({
      stateHome,
      keepJobs: jobsToKeep(engine),
      endProcesses: (marker) => processes.sweep(marker),
      isRunning: async (jobDir) => (await processes.inspect(jobDir)) === 'running',
    });
    await tools.dependencies?.tidy();
    const disk = createDiskBudget({ ...tools, stateHome, limitBytes: settings.workspace.diskBytes });
    await disk.makeRoom();
    const parts: LoopParts = { ...tools, makeRoom: (run) => disk.makeRoom(run), engine, reader: engine.reader };
    const task = createTaskRun(parts, options.reporter);
    const breakers = createBreakers(parts);
    const claims = createTaskClaims({
      open: () => openClaims({ stateRoot: path.dirname(stateHome), clock, isAlive }),
      stateHome,
      self: selfIdentity,
      after,
    });
    const dispatcher = createDispatcher(parts, {
      handler: task,
      breakers,
      claims,
      after,
      ...startLimits(settings.limits),
      machine: readMachine,
    });
    const tick = createTick(parts, dispatcher, options.reporter);
    const recovered = await engine.serve([tick, task]);
    for (const handle of recovered) dispatcher.take(handle);
    const endPruning = keepPruned({ engine, stateHome, workspaces: tools.workspaces });
    return {
      engine,
      parts,
      dispatcher,
      breakers,
      pool: tools.pool,
      makeRoom: () => disk.makeRoom(),
      handlers: { tick, task },
      recovered,
      interrupt: () => engine.cancelAll(interrupted),
      [Symbol.asyncDispose]: async () => {
        await endPruning();
        await engine[Symbol.asyncDispose]();
        await tools.pool.close();
        await claims.close();
      },
    };
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    throw error;
  }
};

const startLimits = (limits: Settings['limits']): Pick<DispatcherOptions, 'limits' | 'weights'> => ({
  weights: limits.shares,
  limits: {
    machine: limits.runs,
    perLoop: {},
    perAgent: limits.agents,
    perProvider: limits.providers,
    gapMs: limits.gapMs,
    startsPerMinute: limits.startsPerMinute,
    loadPerCpuMax: limits.loadPerCpu,
    freeMemoryBytesMin: limits.freeMemoryBytes,
  },
});

const readMachine: DispatcherOptions['machine'] = () => ({
  loadPerCpu: (os.loadavg()[0] ?? 0) / os.availableParallelism(),
  freeMemoryBytes: os.freemem(),
});

const after: DispatcherOptions['after'] = (ms, look) => {
  const timer = setTimeout(look, ms);
  return { cancel: () => clearTimeout(timer) };
};

const jobsToKeep = ({ reader }: Engine): ReadonlySet<string> => {
  const newest = [
    ...reader.runs({ loop: taskHandler.name, newestFirst: true, limit: runsWithJobs }),
    ...reader.runs({ loop: tickHandler.name, newestFirst: true, limit: ticksWithJobs }),
  ];
  return new Set([...reader.runs({ states: openStates }), ...newest].map((run) => runJobsFolder(run.id)));
};

/** Builds the agent a loop names. */
export const agentOf = (loop: LoopDefinition, { home, env }: { readonly home: string; readonly env: NodeJS.ProcessEnv }): AgentAdapter =>
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

/**
 * Processes of a command that owns nothing (a dry run): each gets a job folder of its own and ends with the command.
 * @param signal ends what runs
 */
export const freeProcesses = ({
  processes,
  stateHome,
  signal,
}: {
  readonly processes: ProcessHost;
  readonly stateHome: string;
  readonly signal: AbortSignal;
}): RunProcess => {
  const folder = `look-${Date.now().toString(36)}-${randomBytes(3).toString('hex')}`;
  let count = 0;
  return async (key, spec) => {
    count += 1;
    const running = await processes.open(
      path.join(stateHome, 'jobs', folder, `${count}-${key.replace(/[^a-zA-Z0-9]+/g, '-').slice(0, 60)}`),
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
