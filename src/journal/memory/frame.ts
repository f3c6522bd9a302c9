// Where a call of a handler stands: the execution it belongs to, the prefix of its keys, and the signal of its branch.
import { Defect, type Fault } from '../../core/fault.ts';
import { CancelledError } from '../cancelled-error.ts';
import { type ErrorRecord, errorRecord, faultOfRecord } from '../error-record.ts';
import { assertName } from '../names.ts';
import type { Life, Write } from './life.ts';
import { fromText, inFact, toText } from './payload.ts';
import { changeRow, runOf, stepsOf } from './rows.ts';
import type { MemoryStep, MemoryStepKind } from './state.ts';
import type { Slots } from './slots.ts';

const keysMax = 10_000;
const warnAt = 2_000;

export interface Cleanup {
  readonly key: string;
  readonly effect: () => Promise<void>;
}

/** What all calls of one execution share. */
export interface Shared {
  readonly life: Life;
  readonly slots: Slots;
  readonly run: string;
  readonly generation: number;
  readonly used: Set<string>;
  readonly inFlight: Set<Promise<unknown>>;
  readonly cleanups: Cleanup[];
  readonly controller: AbortController;
  /** Set when the engine is being drained: no new effect begins. */
  readonly isDraining: () => boolean;
  closed: boolean;
  /** Set by `continueAs`. */
  continued: { readonly input: unknown } | undefined;
  defect: Defect | undefined;
}

export interface Frame {
  readonly shared: Shared;
  readonly prefix: string;
  readonly signal: AbortSignal;
}

export const broken = (frame: Frame, sentence: string): Defect => {
  const defect = new Defect(sentence);
  frame.shared.defect ??= defect;
  return defect;
};

export const assertOpen = ({ shared }: Frame): void => {
  shared.life.stopped.throwIfAborted();
  if (shared.closed) throw new CancelledError(`The handler of run ${shared.run} has ended.`);
};

/** Resolves at the next change of the journal, or when the branch is aborted. */
export const nextChange = (frame: Frame): Promise<void> =>
  new Promise((resolve) => {
    const { changed } = frame.shared.life.state;
    const done = (): void => {
      changed.delete(done);
      frame.signal.removeEventListener('abort', done);
      resolve();
    };
    changed.add(done);
    frame.signal.addEventListener('abort', done, { once: true });
    if (frame.signal.aborted) done();
  });

/** Waits while the run is paused, parked or drained. @throws why no new effect may begin */
export const mayPerform = async (frame: Frame): Promise<void> => {
  for (;;) {
    assertOpen(frame);
    frame.signal.throwIfAborted();
    const { life, run, isDraining } = frame.shared;
    if (runOf(life.state, run).row.state === 'running' && !isDraining()) return;
    await nextChange(frame);
  }
};

/** Stops the run until a person says how it goes on; what is in flight goes on to its end. */
export const park = async (frame: Frame, attention: { code: string; message: string; step?: string }): Promise<void> => {
  const { life, run, generation } = frame.shared;
  await life.write((write) => {
    changeRow(life.state, run, { state: 'needs-attention', attention });
    write.fact('run.parked', run, { generation, ...attention });
  });
};

/** Registers a call under its key. @returns what is recorded under it */
export const enter = (frame: Frame, key: string, kind: MemoryStepKind): MemoryStep | undefined => {
  assertOpen(frame);
  const { shared } = frame;
  const full = frame.prefix + key;
  try {
    assertName('The step key', full);
  } catch (error) {
    throw broken(frame, (error as Error).message);
  }
  if (shared.used.has(full)) throw broken(frame, `The key ${JSON.stringify(full)} is used twice in run ${shared.run}.`);
  shared.used.add(full);
  const prior = stepsOf(shared.life.state, shared.run).get(full);
  if (prior !== undefined && prior.kind !== kind) {
    throw broken(frame, `The key ${JSON.stringify(full)} of run ${shared.run} is recorded as a ${prior.kind} and now used as a ${kind}.`);
  }
  return prior;
};

/** Keeps a call in sight until it ends, so that the run does not end before it. */
export const operation = <T>(frame: Frame, body: () => Promise<T>): Promise<T> => {
  const { inFlight } = frame.shared;
  const running = body();
  const settled: Promise<unknown> = running.then(
    () => inFlight.delete(settled),
    () => inFlight.delete(settled),
  );
  inFlight.add(settled);
  return running;
};

/** What a recorded step gives back; a failure only in the generation that recorded it. */
export const replayed = (frame: Frame, prior: MemoryStep | undefined): { readonly value: unknown } | undefined => {
  if (prior?.state === 'done') return { value: fromText(prior.outcome) };
  if (prior?.state === 'failed' && prior.generation === frame.shared.generation && prior.error !== undefined) {
    throw faultOfRecord(prior.error);
  }
  return undefined;
};

export const fresh = (frame: Frame, key: string, kind: MemoryStepKind): MemoryStep => {
  const { life, run, generation } = frame.shared;
  const steps = stepsOf(life.state, run);
  const full = frame.prefix + key;
  const prior = steps.get(full);
  return {
    key: full,
    kind,
    state: 'intended',
    generation,
    performed: prior?.performed ?? 0,
    attempts: prior?.generation === generation ? prior.attempts : 0,
    ord: prior?.ord ?? steps.size,
    plan: {},
    outcome: undefined,
    error: undefined,
    details: prior?.details,
  };
};

const named = ({ key, kind, generation, performed }: MemoryStep) => ({ key, kind, generation, performance: performed });

export const putStep = (frame: Frame, step: MemoryStep): void => {
  const { life, run } = frame.shared;
  stepsOf(life.state, run).set(step.key, step);
};

/** Refuses the key that is too many: the run parks, because going on would lose what it did. */
const makeRoom = async (frame: Frame, key: string): Promise<void> => {
  const { life, run } = frame.shared;
  const steps = stepsOf(life.state, run);
  while (!steps.has(frame.prefix + key) && steps.size >= keysMax) {
    await park(frame, { code: 'HISTORY_FULL', message: `Run ${run} has used its ${keysMax} keys.` });
    await mayPerform(frame);
  }
};

const warnOnce = (frame: Frame, write: Write): void => {
  const { life, run } = frame.shared;
  const isLong = (fact: { kind: string; run: string }): boolean => fact.kind === 'run.history-long' && fact.run === run;
  if (stepsOf(life.state, run).size === warnAt && !life.state.facts.some(isLong)) write.fact('run.history-long', run, { keys: warnAt });
};

/** What goes with an intent or an outcome. */
export interface Ending {
  readonly details?: object;
  /** Work of the same transaction: all or nothing. */
  readonly also?: (write: Write) => void;
}

/** Writes the intent of the next performance. */
export const intend = async (frame: Frame, step: MemoryStep, { details = {}, also }: Ending = {}): Promise<MemoryStep> => {
  await makeRoom(frame, step.key.slice(frame.prefix.length));
  const next = { ...step, performed: step.performed + 1 };
  await frame.shared.life.write((write) => {
    putStep(frame, next);
    also?.(write);
    write.fact('step.intended', frame.shared.run, { ...named(next), ...details });
    warnOnce(frame, write);
  });
  return next;
};

/** Writes the failure. @throws Fault as a replay will see it */
export const fail = async (frame: Frame, step: MemoryStep, thrown: unknown, { also }: Ending = {}): Promise<never> => {
  const error: ErrorRecord = errorRecord(thrown);
  const failed: MemoryStep = { ...step, state: 'failed', generation: frame.shared.generation, outcome: undefined, error };
  await frame.shared.life.write((write) => {
    putStep(frame, failed);
    also?.(write);
    write.fact('step.failed', frame.shared.run, { ...named(failed), error });
  });
  throw faultOfRecord(error, thrown);
};

/** Writes the outcome, or a failure when it is no JSON. @returns what a replay will see */
export const complete = async (frame: Frame, step: MemoryStep, outcome: unknown, ending: Ending = {}): Promise<unknown> => {
  let text: string | undefined;
  try {
    text = toText(outcome, `The outcome of step ${JSON.stringify(step.key)}`);
  } catch (error) {
    return fail(frame, step, error, ending);
  }
  if (step.performed === 0) await makeRoom(frame, step.key.slice(frame.prefix.length));
  const done: MemoryStep = { ...step, state: 'done', generation: frame.shared.generation, outcome: text, error: undefined };
  await frame.shared.life.write((write) => {
    putStep(frame, done);
    ending.also?.(write);
    write.fact('step.completed', frame.shared.run, { ...named(done), ...ending.details, outcome: inFact(text) });
    warnOnce(frame, write);
  });
  return fromText(text);
};

/** Why the engine stopped; undefined while it runs. */
export const stopReason = (frame: Frame): Fault | undefined =>
  frame.shared.life.stopped.aborted ? (frame.shared.life.stopped.reason as Fault) : undefined;
