// A process as a step: the job folder of the intent is opened again after a crash, so that no second process is started.
import path from 'node:path';
import type { ManagedProcess, ProcessResult, ProcessSpec } from '../../process/index.ts';
import { CancelledError } from '../cancelled-error.ts';
import { jobDirOf } from '../names.ts';
import type { SpawnOptions, SpawnResult } from '../port.ts';
import { complete, enter, fail, type Frame, fresh, intend, mayPerform, replayed } from './frame.ts';
import { askPerson, takeSlots } from './perform-step.ts';
import type { MemoryStep } from './state.ts';

interface Request {
  readonly key: string;
  readonly spec: ProcessSpec;
  readonly options: SpawnOptions;
}

const awaitEnd = async (frame: Frame, managed: ManagedProcess): Promise<ProcessResult> => {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => {
    if (frame.signal.reason instanceof CancelledError) managed.end('cancelled');
    else reject(frame.signal.reason as Error);
  };
  frame.signal.addEventListener('abort', onAbort, { once: true });
  if (frame.signal.aborted) onAbort();
  try {
    return await Promise.race([managed.result, stopped]);
  } finally {
    frame.signal.removeEventListener('abort', onAbort);
  }
};

const open = async (frame: Frame, folder: string, { spec, options }: Request): Promise<ManagedProcess> => {
  const managed = await frame.shared.life.options.processes.open(folder, spec);
  try {
    options.watch?.(managed);
  } catch (error) {
    managed.end('cancelled');
    await managed.result;
    throw error;
  }
  return managed;
};

const runProcess = async (frame: Frame, step: MemoryStep, process: { folder: string; request: Request }): Promise<SpawnResult> => {
  let managed: ManagedProcess;
  try {
    managed = await open(frame, process.folder, process.request);
  } catch (error) {
    frame.signal.throwIfAborted();
    return fail(frame, step, error);
  }
  const result = await awaitEnd(frame, managed);
  frame.signal.throwIfAborted();
  return { ...result, wasAdopted: managed.wasAdopted };
};

export const performSpawn = async (frame: Frame, request: Request): Promise<SpawnResult> => {
  const { key, spec, options } = request;
  const { life, run, generation } = frame.shared;
  const { processes, stateHome } = life.options;
  const prior = enter(frame, key, 'spawn');
  const priorFolder = prior?.plan.jobDir === undefined ? undefined : path.join(stateHome, prior.plan.jobDir);
  const known = replayed(frame, prior);
  if (known !== undefined) {
    if (priorFolder !== undefined && options.watch !== undefined && (await processes.inspect(priorFolder)) === 'ended') {
      await (
        await open(frame, priorFolder, request)
      ).result;
    }
    return known.value as SpawnResult;
  }
  if (prior?.state === 'intended' && prior.generation === generation && priorFolder !== undefined) {
    if (frame.signal.aborted && (await processes.inspect(priorFolder)) === 'running') {
      await awaitEnd(frame, await processes.open(priorFolder, spec));
    }
    await mayPerform(frame);
    if (options.onCrash === 'ask') {
      const decided = await askPerson(frame, prior);
      if (decided !== undefined) return decided.value as SpawnResult;
    } else if (options.onCrash !== 'rerun') {
      const adopted = await runProcess(frame, prior, { folder: priorFolder, request });
      if (adopted.end !== 'owner-died') return (await complete(frame, prior, adopted)) as SpawnResult;
    }
  }
  await mayPerform(frame);
  const release = await takeSlots(frame, options.slots);
  try {
    const step = fresh(frame, key, 'spawn');
    const jobDir = jobDirOf({ run, key: step.key, performance: step.performed + 1 });
    const env = Object.keys(spec.env).sort();
    const details = { jobDir, command: spec.command, args: spec.args, cwd: spec.cwd, env, marker: spec.marker };
    const begun = await intend(frame, { ...step, plan: { jobDir } }, { details });
    await mayPerform(frame);
    const started = await runProcess(frame, begun, { folder: path.join(stateHome, jobDir), request });
    return (await complete(frame, begun, started)) as SpawnResult;
  } finally {
    release();
  }
};
