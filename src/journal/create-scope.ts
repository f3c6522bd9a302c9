// The working side of a scope (scope.ts holds its rules).
import { Defect, Fault } from '../core/fault.ts';
import type { EpochMs } from '../core/ids.ts';
import type { Overdraft } from './budget-records.ts';
import { CancelledError } from './cancelled-error.ts';
import { assertName } from './names.ts';
import { never } from './never.ts';
import { parkRun } from './park-records.ts';
import type { Attention, RunRow } from './port.ts';
import type { StepRow } from './rows.ts';
import type { Limits } from './run-records.ts';
import type { Store } from './store.ts';
import { overdrawn } from './overdrawn.ts';
import { createRecords } from './scope-records.ts';
import type { Scope } from './scope.ts';

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

  const records = createRecords({ ...options, overdraw, keys: { count: () => used.size, max: stepsMax, warnAt: stepsWarnAt } });

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
    ...records,

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
      const forget = (): boolean => inFlight.delete(settled);
      const settled = running.then(forget, forget);
      if (!isClosed) inFlight.add(settled);
      return running;
    },

    perform: (body) => {
      if (suspension.signal.aborted) return never();
      const running = (async () => {
        assertMayPerform();
        return await body();
      })();
      const forget = (): boolean => performing.delete(settled);
      const settled = running.then(forget, forget);
      performing.add(settled);
      return running;
    },

    nameOf: (key) => (limits.historyFrom === 1 ? `${run.id}/${key}` : `${run.id}/g${limits.historyFrom}/${key}`),

    park,

    close: async () => {
      isClosed = true;
      if (inFlight.size > 0) controller.abort(new CancelledError(`The handler of run ${run.id} has ended.`));
      await Promise.all(inFlight);
    },
  };
};
