// One execution of one run: what is recorded, what may still be performed, and what is in flight.
//
//  1. A recorded outcome is returned whatever has happened since; only new effects are refused after a cancel or the handler's end.
//  2. The intent is on disk before the effect starts (L5).
//  3. An effect that comes to its end is recorded even after a cancel, because it happened; one that was broken off is not.
//  4. When the engine stops, nothing is recorded of what was broken off: it looks like a crash.
import { Defect, type Fault } from '../core/fault.ts';
import { CancelledError } from './cancelled-error.ts';
import { type ErrorRecord, errorRecord, faultOfRecord } from './error-record.ts';
import { decodeJson, encodeJson } from './json.ts';
import { assertName } from './names.ts';
import type { RunRow } from './port.ts';
import type { StepKind, StepRow } from './rows.ts';
import { writeFailure, writeIntent, writeOutcome } from './step-records.ts';
import type { Store } from './store.ts';

/** Most keys of one run. */
const stepsMax = 10_000;

export interface Scope {
  readonly run: RunRow;
  readonly store: Store;
  readonly steps: Map<string, StepRow>;
  readonly signal: AbortSignal;
  /** Aborts what is in flight. The first reason stands. */
  abort(reason: CancelledError | Fault): void;
  /** Registers a call under its key. @returns what is recorded under it. @throws Defect for a key used twice or for another kind */
  enter(key: string, kind: StepKind): StepRow | undefined;
  /** Keeps a call in sight until it ends, so that the run does not end before it. */
  operation<T>(body: () => Promise<T>): Promise<T>;
  /** @throws why no new effect may begin: engine stopped, run cancelled, handler ended */
  assertMayPerform(): void;
  /** @throws why nothing may be written any more */
  assertOpen(): void;
  /** Writes the intent of the next performance. */
  intend(key: string, kind: StepKind, options?: { readonly plan?: StepRow['plan']; readonly details?: object }): Promise<StepRow>;
  /** Writes the outcome, or a failure when it cannot be written as JSON. @returns what a replay will see */
  complete(step: StepRow, outcome: unknown, details?: object): Promise<unknown>;
  /** Writes the failure. @throws Fault as a replay will see it */
  fail(step: StepRow, thrown: unknown): Promise<never>;
  /** Why the engine stopped; undefined while it runs. */
  stopReason(): Fault | undefined;
  /** The first broken assertion: the run fails with it even when the handler caught it. */
  defect(): Defect | undefined;
  /** The handler has ended: no call is taken any more; what is in flight is waited for. */
  close(): Promise<void>;
}

const noop = (): void => {};

/** A step that nothing is recorded of. */
export const freshStep = (key: string, kind: StepKind, generation: number): StepRow => ({
  key,
  kind,
  state: 'intended',
  generation,
  performed: 0,
  plan: {},
  outcome: undefined,
  error: undefined,
  details: undefined,
  nextTryAt: undefined,
});

/** @param options `steps` is what was recorded before; `stopping` aborts, with a Fault as its reason, when the engine is being disposed of */
export const createScope = (options: {
  readonly run: RunRow;
  readonly steps: Map<string, StepRow>;
  readonly store: Store;
  readonly stopping: AbortSignal;
}): Scope => {
  const { run, steps, store, stopping } = options;
  const used = new Set<string>();
  const inFlight = new Set<Promise<unknown>>();
  const controller = new AbortController();
  let isClosed = false;
  let defect: Defect | undefined;

  const broken = (sentence: string): Defect => {
    const found = new Defect(sentence);
    defect ??= found;
    return found;
  };

  const stopReason = (): Fault | undefined => {
    for (const signal of [store.stopped, stopping]) if (signal.aborted) return signal.reason as Fault;
    return undefined;
  };

  const assertOpen = (): void => {
    const stopped = stopReason();
    if (stopped !== undefined) throw stopped;
    // Not a defect: a branch that the handler did not wait for may come here, and must not hide how the handler ended.
    if (isClosed) throw new CancelledError(`The handler of run ${run.id} has ended.`);
  };

  const fail = async (step: StepRow, thrown: unknown): Promise<never> => {
    const error: ErrorRecord = errorRecord(thrown);
    const failed = { ...step, state: 'failed' as const, generation: run.generation, outcome: undefined, error };
    await store.write((transaction) => writeFailure(transaction, run.id, failed));
    steps.set(step.key, failed);
    throw faultOfRecord(error, thrown);
  };

  return {
    run,
    store,
    steps,
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    stopReason,
    assertOpen,
    defect: () => defect,
    fail,

    enter: (key, kind) => {
      assertOpen();
      try {
        assertName('The step key', key);
      } catch (error) {
        throw broken((error as Error).message);
      }
      if (used.has(key)) throw broken(`The key ${JSON.stringify(key)} is used twice in run ${run.id}.`);
      if (used.size >= stepsMax) throw broken(`Run ${run.id} has more than ${stepsMax} keys.`);
      used.add(key);
      const prior = steps.get(key);
      if (prior !== undefined && prior.kind !== kind) {
        throw broken(`The key ${JSON.stringify(key)} of run ${run.id} is recorded as a ${prior.kind} and now used as a ${kind}.`);
      }
      return prior;
    },

    operation: (body) => {
      const running = body();
      // Marked as handled: a call that the handler does not wait for must not end the whole process.
      const settled = running.then(noop, noop).finally(() => inFlight.delete(settled));
      if (!isClosed) inFlight.add(settled);
      return running;
    },

    assertMayPerform: () => {
      assertOpen();
      if (controller.signal.aborted) throw controller.signal.reason;
    },

    intend: async (key, kind, { plan = {}, details = {} } = {}) => {
      const performed = (steps.get(key)?.performed ?? 0) + 1;
      const step = { ...freshStep(key, kind, run.generation), performed, plan, details: steps.get(key)?.details };
      await store.write((transaction) => writeIntent(transaction, run.id, step, details));
      steps.set(key, step);
      return step;
    },

    complete: async (step, outcome, details = {}) => {
      let text: string | undefined;
      try {
        text = encodeJson(outcome, `The outcome of step ${JSON.stringify(step.key)}`);
      } catch (error) {
        return fail(step, error);
      }
      const done = { ...step, state: 'done' as const, generation: run.generation, outcome: text, error: undefined };
      await store.write((transaction) => writeOutcome(transaction, run.id, done, details));
      steps.set(step.key, done);
      return decodeJson(text);
    },

    close: async () => {
      isClosed = true;
      if (inFlight.size > 0) controller.abort(new CancelledError(`The handler of run ${run.id} has ended.`));
      await Promise.all(inFlight);
    },
  };
};

/**
 * What a recorded step gives back.
 * @returns undefined when the effect has to be performed
 * @throws Fault as recorded, in the generation that recorded it; a later generation performs the step again
 */
export const replayed = (scope: Scope, prior: StepRow | undefined): { readonly value: unknown } | undefined => {
  if (prior?.state === 'done') return { value: decodeJson(prior.outcome) };
  if (prior?.state === 'failed' && prior.generation === scope.run.generation && prior.error !== undefined) throw faultOfRecord(prior.error);
  return undefined;
};
