// One execution of one run: what is recorded, what may still be performed, and what is in flight.
//
//  1. A recorded outcome is returned whatever has happened since; only new effects are refused after a cancel or the handler's end.
//  2. The intent is on disk before the effect starts (L5).
//  3. An effect that comes to its end is recorded even after a cancel, because it happened; one that was broken off is not.
//  4. When the engine stops, nothing is recorded of what was broken off: it looks like a crash.
//  5. A parked run (paused, or waiting for a person) begins no new effect: the calls of its handler never settle. Effects that are being
//     performed come to their end and are recorded; then the execution is dropped, and a later one replays.
import { Defect, Fault } from '../core/fault.ts';
import { chargeAmounts, type Overdraft } from './budget-records.ts';
import { canonicalJson } from './chain.ts';
import { CancelledError } from './cancelled-error.ts';
import { type ErrorRecord, errorRecord, faultOfRecord } from './error-record.ts';
import { decodeJson } from './json.ts';
import { assertName } from './names.ts';
import { never } from './never.ts';
import { encodePayload, resolvePayload } from './payload.ts';
import { parkRun } from './park-records.ts';
import type { Amounts, Attention, RunRow } from './port.ts';
import type { StepKind, StepRow } from './rows.ts';
import type { Limits } from './run-records.ts';
import { noteLongHistory, writeFailure, writeIntent, writeOutcome, writeRetry } from './step-records.ts';
import type { Store } from './store.ts';
import { overdrawn } from './overdrawn.ts';
import type { Transaction } from './append.ts';

/** Most keys of one run, and when a fact warns of it. */
const stepsMax = 10_000;
const stepsWarnAt = 2_000;

/** What is written in the transaction of an outcome or a failure. */
export interface Beside {
  /** More members of the fact. */
  readonly details?: object;
  readonly charge?: Amounts;
  readonly also?: (transaction: Transaction) => void;
}

export interface Scope {
  readonly run: RunRow;
  readonly limits: Limits;
  readonly store: Store;
  readonly steps: Map<string, StepRow>;
  readonly signal: AbortSignal;
  /** The signal of the run; that of a branch may abort earlier. */
  readonly runSignal: AbortSignal;
  /** Aborts when the run is parked. */
  readonly suspended: AbortSignal;
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
  /** One effect from its intent to its outcome. @throws as `assertMayPerform`; never settles, and begins nothing, in a parked run */
  perform<T>(body: () => Promise<T>): Promise<T>;
  /** Writes the intent of the next performance. */
  intend(
    key: string,
    kind: StepKind,
    options?: { readonly plan?: StepRow['plan']; readonly details?: object; readonly also?: (transaction: Transaction) => void },
  ): Promise<StepRow>;
  /** Writes the outcome, or a failure when it cannot be written as JSON. @returns what a replay will see */
  complete(step: StepRow, outcome: unknown, beside?: Beside): Promise<unknown>;
  /** Writes an outcome that is found in the transaction itself. @returns undefined when there is none yet, and nothing is written */
  decide(
    step: StepRow,
    decision: (transaction: Transaction) => (Omit<Beside, 'charge'> & { readonly outcome: unknown }) | undefined,
  ): Promise<{ readonly value: unknown } | undefined>;
  /** Counts what a performance had spent that was broken off: the money is gone, whatever becomes of the step. */
  charge(key: string, amounts: Amounts): Promise<void>;
  /** Writes the failure. @throws Fault as a replay will see it */
  fail(step: StepRow, thrown: unknown, beside?: Beside): Promise<never>;
  /** Writes a failure that is tried again. @param step holds the error and when. @returns the step as it waits */
  retry(step: StepRow & { readonly error: ErrorRecord }, charge: Amounts | undefined): Promise<StepRow>;
  /** The name of a step in the world: `<run>/<key>`, and another one in each history that `continueAs` began. */
  nameOf(key: string): string;
  /** Parks the run until a person goes on with it. Never settles. */
  park(attention: Attention): Promise<never>;
  /** Begins nothing more. @returns when all that was being performed has ended; at once when the run is ending anyway */
  suspend(): Promise<void>;
  /** Why the engine stopped; undefined while it runs. */
  stopReason(): Fault | undefined;
  /** The first broken assertion, or the limit that ends the run: it fails with it even when the handler caught it. */
  doom(): Defect | Fault | undefined;
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
  readonly limits: Limits;
  readonly steps: Map<string, StepRow>;
  readonly store: Store;
  readonly stopping: AbortSignal;
}): Scope => {
  const { run, limits, steps, store, stopping } = options;
  const used = new Set<string>();
  const inFlight = new Set<Promise<unknown>>();
  const performing = new Set<Promise<unknown>>();
  const controller = new AbortController();
  const suspension = new AbortController();
  let isClosed = false;
  let isWarned = false;
  let doom: Defect | Fault | undefined;

  const broken = (sentence: string): Defect => {
    const found = new Defect(sentence);
    doom ??= found;
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

  const assertMayPerform = (): void => {
    assertOpen();
    if (controller.signal.aborted) throw controller.signal.reason;
  };

  const suspend = async (): Promise<void> => {
    if (isClosed) return;
    suspension.abort();
    while (performing.size > 0) await Promise.all(performing);
  };

  const overdraw = (over: Overdraft | undefined): void => {
    if (over === undefined) return;
    if (over.onLimit === 'park') {
      void suspend();
      return;
    }
    doom ??= overdrawn(over);
    controller.abort(doom);
  };

  const park = async (attention: Attention): Promise<never> => {
    // A cancelled run is brought to its end, whatever it would ask a person.
    assertMayPerform();
    void suspend();
    await store.write((transaction) => parkRun(transaction, run, attention));
    return never();
  };

  const exceedHistory = (): void => {
    const full = new Fault('HISTORY_FULL', `Run ${run.id} uses more than ${stepsMax} keys.`, {
      hint: 'Let the loop call `continueAs` earlier.',
    });
    if (limits.onLimit === 'park') {
      assertMayPerform();
      // A store that stops meanwhile has stopped the run already.
      park({ code: full.code, message: full.message }).catch(noop);
      return;
    }
    doom ??= full;
    controller.abort(full);
    throw full;
  };

  /** The charge of an outcome, and what follows from it in the same transaction. */
  const settleCharge = (transaction: Transaction, charge: Amounts | undefined): Overdraft | undefined => {
    if (charge === undefined) return undefined;
    const over = chargeAmounts(transaction, run.id, charge);
    if (over?.onLimit === 'park') parkRun(transaction, run, { code: overdrawn(over).code, message: overdrawn(over).message });
    return over;
  };

  const detailsOf = ({ details = {}, charge }: Beside): object => ({ ...details, ...(charge === undefined ? {} : { charge }) });

  const fail = async (step: StepRow, thrown: unknown, beside: Beside = {}): Promise<never> => {
    const error: ErrorRecord = errorRecord(thrown);
    const failed = { ...step, state: 'failed' as const, generation: run.generation, outcome: undefined, error, nextTryAt: undefined };
    const over = await store.write((transaction) => {
      writeFailure(transaction, run.id, failed, detailsOf(beside));
      beside.also?.(transaction);
      return settleCharge(transaction, beside.charge);
    });
    steps.set(step.key, failed);
    overdraw(over);
    throw faultOfRecord(error, thrown);
  };

  const warnOnce = (transaction: Transaction): void => {
    if (isWarned || used.size < stepsWarnAt) return;
    noteLongHistory(transaction, run, { historyFrom: limits.historyFrom, keys: stepsWarnAt, keysMax: stepsMax });
  };
  /** Called after COMMIT, because the work of a write may be run again. */
  const warned = (): void => {
    isWarned ||= used.size >= stepsWarnAt;
  };

  const encodeOutcome = (step: StepRow, outcome: unknown): string | undefined =>
    encodePayload(store.blobs, outcome, `The outcome of step ${JSON.stringify(step.key)}`);

  const doneStep = (step: StepRow, outcome: string | undefined): StepRow => ({
    ...step,
    state: 'done',
    generation: run.generation,
    outcome,
    error: undefined,
    nextTryAt: undefined,
  });

  const writeDone = (transaction: Transaction, done: StepRow, beside: Beside): void => {
    warnOnce(transaction);
    writeOutcome(transaction, run.id, done, detailsOf(beside));
    beside.also?.(transaction);
  };

  return {
    run,
    limits,
    store,
    steps,
    signal: controller.signal,
    runSignal: controller.signal,
    suspended: suspension.signal,
    abort: (reason) => controller.abort(reason),
    stopReason,
    assertOpen,
    assertMayPerform,
    suspend,
    doom: () => doom,
    fail,

    enter: (key, kind) => {
      assertOpen();
      try {
        assertName('The step key', key);
      } catch (error) {
        throw broken((error as Error).message);
      }
      if (used.has(key)) throw broken(`The key ${JSON.stringify(key)} is used twice in run ${run.id}.`);
      used.add(key);
      if (used.size > stepsMax) exceedHistory();
      const prior = steps.get(key);
      if (prior !== undefined && prior.kind !== kind) {
        throw broken(`The key ${JSON.stringify(key)} of run ${run.id} is recorded as a ${prior.kind} and now used as a ${kind}.`);
      }
      return prior;
    },

    operation: (body) => {
      if (suspension.signal.aborted) return never();
      const running = body();
      // Marked as handled: a call that the handler does not wait for must not end the whole process.
      const settled = running.then(noop, noop).finally(() => inFlight.delete(settled));
      if (!isClosed) inFlight.add(settled);
      return running;
    },

    perform: (body) => {
      if (suspension.signal.aborted) return never();
      const running = (async () => {
        assertMayPerform();
        return await body();
      })();
      const settled = running.then(noop, noop).finally(() => performing.delete(settled));
      performing.add(settled);
      return running;
    },

    intend: async (key, kind, { plan = {}, details = {}, also } = {}) => {
      const prior = steps.get(key);
      const performed = (prior?.performed ?? 0) + 1;
      const step = { ...freshStep(key, kind, run.generation), performed, plan, details: prior?.details };
      await store.write((transaction) => {
        writeIntent(transaction, run.id, step, details);
        warnOnce(transaction);
        also?.(transaction);
      });
      steps.set(key, step);
      return step;
    },

    complete: async (step, outcome, beside = {}) => {
      let text: string | undefined;
      try {
        text = encodeOutcome(step, outcome);
      } catch (error) {
        return fail(step, error, beside);
      }
      const done = doneStep(step, text);
      const over = await store.write((transaction) => {
        writeDone(transaction, done, beside);
        return settleCharge(transaction, beside.charge);
      });
      warned();
      steps.set(step.key, done);
      overdraw(over);
      return resolvePayload(store.blobs, decodeJson(text));
    },

    decide: async (step, decision) => {
      const done = await store.write((transaction) => {
        const decided = decision(transaction);
        if (decided === undefined) return undefined;
        const recorded = doneStep(step, encodeOutcome(step, decided.outcome));
        writeDone(transaction, recorded, decided);
        return recorded;
      });
      if (done === undefined) return undefined;
      steps.set(step.key, done);
      return { value: resolvePayload(store.blobs, decodeJson(done.outcome)) };
    },

    retry: async (step, charge) => {
      const over = await store.write((transaction) => {
        writeRetry(transaction, run.id, step, detailsOf(charge === undefined ? {} : { charge }));
        return settleCharge(transaction, charge);
      });
      const waiting = { ...step, error: undefined };
      steps.set(step.key, waiting);
      overdraw(over);
      return waiting;
    },

    nameOf: (key) => (limits.historyFrom === 1 ? `${run.id}/${key}` : `${run.id}/g${limits.historyFrom}/${key}`),

    charge: async (key, amounts) => {
      const data = canonicalJson({ key, generation: run.generation, charge: amounts });
      const over = await store.write((transaction) => {
        transaction.fact({ kind: 'budget.charged', run: run.id, data });
        return settleCharge(transaction, amounts);
      });
      overdraw(over);
    },

    park,

    close: async () => {
      isClosed = true;
      if (inFlight.size > 0) controller.abort(new CancelledError(`The handler of run ${run.id} has ended.`));
      await Promise.all(inFlight);
    },
  };
};

/**
 * The same execution as one of its branches sees it.
 * @param signal aborts with the run's signal, or earlier
 */
export const branchScope = (scope: Scope, signal: AbortSignal): Scope => {
  const assertMayPerform = (): void => {
    scope.assertMayPerform();
    if (signal.aborted) throw signal.reason;
  };
  return {
    ...scope,
    signal,
    assertMayPerform,
    perform: (body) =>
      scope.perform(async () => {
        assertMayPerform();
        return body();
      }),
  };
};

/**
 * What a recorded step gives back.
 * @returns undefined when the effect has to be performed
 * @throws Fault as recorded, in the generation that recorded it; a later generation performs the step again
 */
export const replayed = (scope: Scope, prior: StepRow | undefined): { readonly value: unknown } | undefined => {
  if (prior?.state === 'done') return { value: resolvePayload(scope.store.blobs, decodeJson(prior.outcome)) };
  if (prior?.state === 'failed' && prior.generation === scope.run.generation && prior.error !== undefined) throw faultOfRecord(prior.error);
  return undefined;
};
