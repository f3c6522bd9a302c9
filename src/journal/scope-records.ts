// What a scope writes of its steps: each change of a step with its fact, its charge and what belongs to it, in one transaction.
import type { EpochMs } from '../core/ids.ts';
import type { Transaction } from './append.ts';
import { chargeAmounts, type Overdraft } from './budget-records.ts';
import { canonicalJson } from './chain.ts';
import { type ErrorRecord, errorRecord, faultOfRecord } from './error-record.ts';
import { jitterMs } from './jitter.ts';
import { decodeJson } from './json.ts';
import { overdrawn } from './overdrawn.ts';
import { parkRun } from './park-records.ts';
import { encodePayload, resolvePayload } from './payload.ts';
import type { Amounts, RunRow } from './port.ts';
import type { StepRow } from './rows.ts';
import type { Limits } from './run-records.ts';
import { type Beside, freshStep, type Scope } from './scope.ts';
import { noteLongHistory, writeFailure, writeIntent, writeOutcome, writeRetry } from './step-records.ts';
import type { Store } from './store.ts';

export type ScopeRecords = Pick<Scope, 'fail' | 'intend' | 'complete' | 'decide' | 'retry' | 'charge'>;

/** @param options `overdraw`: what follows from a charge over the budget, once it is written; `keys`: those of the run so far */
export const createRecords = (options: {
  readonly run: RunRow;
  readonly limits: Limits;
  readonly steps: Map<string, StepRow>;
  readonly store: Store;
  readonly clock: () => EpochMs;
  readonly chance: () => number;
  readonly overdraw: (over: Overdraft | undefined) => void;
  readonly keys: { readonly count: () => number; readonly max: number; readonly warnAt: number };
}): ScopeRecords => {
  const { run, limits, steps, store, overdraw, keys } = options;
  let isWarned = false;

  /** By its jitter; drawn here and not in a write, whose work may be run again. */
  const putOff = (nextTryAt: number | undefined): number | undefined =>
    nextTryAt === undefined ? undefined : nextTryAt + jitterMs(nextTryAt - options.clock(), options.chance());

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
    if (isWarned || keys.count() < keys.warnAt) return;
    noteLongHistory(transaction, run, { historyFrom: limits.historyFrom, keys: keys.warnAt, keysMax: keys.max });
  };
  /** Called after COMMIT, because the work of a write may be run again. */
  const warned = (): void => {
    isWarned ||= keys.count() >= keys.warnAt;
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
    fail,

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

    charge: async (key, amounts) => {
      const data = canonicalJson({ key, generation: run.generation, charge: amounts });
      const over = await store.write((transaction) => {
        transaction.fact({ kind: 'budget.charged', run: run.id, data });
        return settleCharge(transaction, amounts);
      });
      overdraw(over);
    },
  };
};
