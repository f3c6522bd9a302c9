// A process as a step. Its job folder is named in the intent, so that a restarted engine finds the process it may have started:
//
//  intent of this generation, no outcome   the same folder is opened: adopted, read, or started if it never was
//  intent of an earlier generation         that process was cancelled or given up: a new folder, a new process
//  outcome recorded                        returned; a watcher gets the kept output once more
//
// A process that ended because its engine died (`owner-died`) has no outcome of its own: it is started again in a new folder.
import path from 'node:path';
import { Fault } from '../core/fault.ts';
import type { ManagedProcess, ProcessHost, ProcessResult, ProcessSpec } from '../process/index.ts';
import { CancelledError } from './cancelled-error.ts';
import { jobDirOf } from './names.ts';
import type { Attention, SpawnOptions, SpawnResult } from './port.ts';
import type { StepRow } from './rows.ts';
import { replayed, type Scope } from './scope.ts';
import type { Slots } from './slots.ts';
import { withSlots } from './with-slots.ts';

export interface SpawnTools {
  readonly stateHome: string;
  readonly processes: ProcessHost;
  readonly slots: Slots;
}

interface SpawnRequest {
  readonly key: string;
  readonly spec: ProcessSpec;
  readonly options: SpawnOptions;
}

const argsLettersMax = 8_000;

/** What the journal says of a process before it starts: of its environment the names alone, because the values may be secret. */
const describe = (spec: ProcessSpec, jobDir: string): object => {
  const args = JSON.stringify(spec.args).length <= argsLettersMax ? spec.args : [`${spec.args.length} arguments, too long to keep`];
  return { jobDir, command: spec.command, args, cwd: spec.cwd, env: Object.keys(spec.env).sort(), marker: spec.marker };
};

/** Waits for a process, ending it when the run is cancelled; a stopping engine leaves it alone, to be adopted. */
const awaitEnd = async (scope: Scope, managed: ManagedProcess): Promise<ProcessResult> => {
  const { signal } = scope;
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => {
    if (signal.reason instanceof CancelledError) managed.end('cancelled');
    else reject(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([managed.result, stopped]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

/** A cancelled run whose process may still be alive from before a crash: it is ended, and nothing is started. */
const endLeftover = async (
  scope: Scope,
  tools: SpawnTools,
  leftover: { readonly jobDir: string; readonly spec: ProcessSpec },
): Promise<void> => {
  if ((await tools.processes.inspect(leftover.jobDir)) !== 'running') return;
  const managed = await tools.processes.open(leftover.jobDir, leftover.spec);
  await awaitEnd(scope, managed);
};

/** Ends a process that is not wanted any more, and waits until it is gone. */
const endProcess = async (tools: SpawnTools, left: { readonly jobDir: string; readonly request: SpawnRequest }): Promise<void> => {
  if ((await tools.processes.inspect(left.jobDir)) !== 'running') return;
  const managed = await tools.processes.open(left.jobDir, left.request.spec);
  managed.end('cancelled');
  await managed.result;
};

/** Gives a watcher the output of a process whose outcome is recorded, as far as its folder still holds it. */
const showAgain = async (tools: SpawnTools, jobDir: string, request: SpawnRequest): Promise<void> => {
  const { watch } = request.options;
  if (watch === undefined || (await tools.processes.inspect(jobDir)) !== 'ended') return;
  const managed = await tools.processes.open(jobDir, request.spec);
  watch(managed);
  await managed.result;
};

/** Opens a process and hands it to the watcher. A watcher that throws has nobody left to read: its process is ended. */
const openWatched = async (tools: SpawnTools, jobDir: string, request: SpawnRequest): Promise<ManagedProcess> => {
  const managed = await tools.processes.open(jobDir, request.spec);
  try {
    request.options.watch?.(managed);
  } catch (error) {
    managed.end('cancelled');
    await managed.result;
    throw error;
  }
  return managed;
};

const taken = (jobDir: string): Fault =>
  new Fault('JOB_FOLDER_TAKEN', `The job folder ${jobDir} held a process or a result before anything was started there.`, {
    hint: 'Something else writes into the state home. Look at the folder, remove it, then retry the run.',
    data: { jobDir },
  });

/**
 * One process from its opening to its end.
 * @throws Fault as recorded when it could not be opened or watched; the cancel when the run was cancelled meanwhile, because how a
 *   process ended that was asked to end is not what the step was for
 */
const runProcess = async (
  scope: Scope,
  tools: SpawnTools,
  process: { readonly step: StepRow; readonly jobDir: string; readonly request: SpawnRequest },
): Promise<SpawnResult> => {
  const { step, jobDir, request } = process;
  let managed: ManagedProcess;
  try {
    managed = await openWatched(tools, jobDir, request);
  } catch (error) {
    scope.assertMayPerform();
    return scope.fail(step, error);
  }
  const result = await awaitEnd(scope, managed);
  scope.assertMayPerform();
  return { ...result, wasAdopted: managed.wasAdopted };
};

const startNew = async (scope: Scope, tools: SpawnTools, request: SpawnRequest): Promise<SpawnResult> => {
  const { key, spec } = request;
  const performance = (scope.steps.get(key)?.performed ?? 0) + 1;
  const { historyFrom } = scope.limits;
  const jobDir = jobDirOf({ run: scope.run.id, key: historyFrom === 1 ? key : `g${historyFrom}/${key}`, performance });
  const step = await scope.intend(key, 'spawn', { plan: { jobDir }, details: describe(spec, jobDir) });
  scope.assertMayPerform();
  const folder = path.join(tools.stateHome, jobDir);
  // Nobody was asked to start this before its intent, so what stands there is no outcome of ours; an agent may have put it there.
  if ((await tools.processes.inspect(folder).catch(() => 'lost')) !== 'absent') return scope.fail(step, taken(folder));
  const started = await runProcess(scope, tools, { step, jobDir: folder, request });
  return (await scope.complete(step, started)) as SpawnResult;
};

const unknownEnd = (scope: Scope, key: string): Attention => ({
  code: 'STEP_UNKNOWN',
  message: `The process ${JSON.stringify(key)} of run ${scope.run.id} was started, and nobody knows how it ended.`,
  step: key,
});

/** What becomes of a process that an earlier execution may have started. */
const goOnWith = async (
  scope: Scope,
  tools: SpawnTools,
  left: { readonly step: StepRow; readonly jobDir: string; readonly request: SpawnRequest },
): Promise<SpawnResult | 'start-anew' | 'unknown'> => {
  const { onCrash = 'adopt', slots = {} } = left.request.options;
  const release = tools.slots.seize(slots);
  try {
    if (onCrash === 'rerun') {
      await endProcess(tools, left);
      return 'start-anew';
    }
    const found = await tools.processes.inspect(left.jobDir);
    if (onCrash === 'ask' && found === 'lost') return 'unknown';
    const adopted = await runProcess(scope, tools, left);
    if (adopted.end === 'owner-died') return onCrash === 'ask' ? 'unknown' : 'start-anew';
    if (adopted.end === 'lost' && onCrash === 'ask') return 'unknown';
    return (await scope.complete(left.step, adopted)) as SpawnResult;
  } finally {
    release();
  }
};

export const performSpawn = async (scope: Scope, tools: SpawnTools, request: SpawnRequest): Promise<SpawnResult> => {
  const { key, spec, options } = request;
  const prior = scope.enter(key, 'spawn');
  const priorDir = prior?.plan.jobDir === undefined ? undefined : path.join(tools.stateHome, prior.plan.jobDir);
  const known = replayed(scope, prior);
  if (known !== undefined) {
    if (priorDir !== undefined) await showAgain(tools, priorDir, request);
    return known.value as SpawnResult;
  }
  const isLeftOpen = prior?.state === 'intended' && prior.generation === scope.run.generation;
  if (isLeftOpen && priorDir !== undefined) {
    if (scope.signal.aborted) await endLeftover(scope, tools, { jobDir: priorDir, spec });
    scope.assertMayPerform();
    // It holds its slots already, because it may be running.
    const adopted = await scope.perform(async () => goOnWith(scope, tools, { step: prior, jobDir: priorDir, request }));
    if (adopted === 'unknown') return scope.park(unknownEnd(scope, key));
    if (adopted !== 'start-anew') return adopted;
  }
  scope.assertMayPerform();
  return withSlots(scope, tools.slots, options.slots, () => scope.perform(async () => startNew(scope, tools, request)));
};
