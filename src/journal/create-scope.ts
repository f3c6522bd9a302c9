// The working side of a scope (scope.ts holds its rules).
import { Defect, Fault } from '../core/fault.ts';
import type { EpochMs } from '../core/ids.ts';
import { chargeAmounts, type Overdraft } from './budget-records.ts';
import { canonicalJson } from './chain.ts';
import { CancelledError } from './cancelled-error.ts';
import { type ErrorRecord, errorRecord, faultOfRecord } from './error-record.ts';
import { jitterMs } from './jitter.ts';
import { decodeJson } from './json.ts';
import { assertName } from './names.ts';
import { never } from './never.ts';
import { encodePayload, resolvePayload } from './payload.ts';
import { parkRun } from './park-records.ts';
import type { Amounts, Attention, RunRow } from './port.ts';
import type { StepRow } from './rows.ts';
import type { Limits } from './run-records.ts';
import { noteLongHistory, writeFailure, writeIntent, writeOutcome, writeRetry } from './step-records.ts';
import type { Store } from './store.ts';
import { overdrawn } from './overdrawn.ts';
import type { Transaction } from './append.ts';

import { freshStep, type Beside, type Scope } from './scope.ts';

/** Most keys of one run, and when a fact warns of it. */
const stepsMax = 10_000;
const stepsWarnAt = 2_000;

const noop = (): void => {};

/** @param options `steps` is what was recorded before; `stopping` aborts, with a Fault as its reason, when the engine is being disposed of */
export const createScope = (options: {
  readonly run: RunRow;
  readonly limits: Limits;
  readonly steps: Map<string, StepRow>;
  readonly store: Store;
  readonly stopping: AbortSignal;
  readonly clock: () => EpochMs;
  readonly chance: () => number;
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

  /** By its jitter; drawn here and not in a write, whose work may be run again. */
  const putOff = (nextTryAt: number | undefined): number | undefined =>
    nextTryAt === undefined ? undefined : nextTryAt + jitterMs(nextTryAt - options.clock(), options.chance());

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
      const put = { ...step, nextTryAt: putOff(step.nextTryAt) };
      const over = await store.write((transaction) => {
        writeRetry(transaction, run.id, put, detailsOf(charge === undefined ? {} : { charge }));
        return settleCharge(transaction, charge);
      });
      const waiting = { ...put, error: undefined };
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
