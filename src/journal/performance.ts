// One performance of a step: what its effect is given, what it charges and keeps, and how long it may take.
import { Fault } from '../core/fault.ts';
import { assertAmounts, plus } from './budget-records.ts';
import { encodeJson, decodeJson } from './json.ts';
import { pause } from './pause.ts';
import type { Amounts, StepContext } from './port.ts';
import type { StepRow } from './rows.ts';
import type { Scope } from './scope.ts';
import { keepDetails } from './step-records.ts';
import type { Clockwork } from './wait-until.ts';

export interface PerformanceTools extends Clockwork {
  readonly epoch: number;
}

/** An effect that was told its time is up gets this long to end, so that the next try does not run beside it. */
const timeoutGraceMs = 1_000;
const heartbeatMs = 1_000;

interface Performance {
  /** @throws what the effect throws, or Fault STEP_TIMED_OUT */
  run<T>(effect: (context: StepContext) => Promise<T>): Promise<T>;
  /** What the effect charged; undefined for nothing. */
  charged(): Amounts | undefined;
  /** The step with the details that the effect kept last. */
  keep(step: StepRow): StepRow;
}

export const createPerformance = (
  scope: Scope,
  tools: PerformanceTools,
  { step, timeoutMs }: { readonly step: StepRow; readonly timeoutMs: number | undefined },
): Performance => {
  const { clock, timers } = tools;
  const { run, store } = scope;
  // Most effects have no time limit of their own: then the signal of the run says all there is to say.
  const ending = timeoutMs === undefined ? undefined : new AbortController();
  const signal = ending === undefined ? scope.signal : AbortSignal.any([scope.signal, ending.signal]);
  let charges: Amounts | undefined;
  let details = step.details;
  let keptAt: number | undefined;
  let isOver = false;

  const heartbeat = (value: unknown): void => {
    if (isOver) return;
    details = encodeJson(value, `The details of step ${JSON.stringify(step.key)}`) ?? 'null';
    const now = clock();
    if (keptAt !== undefined && now >= keptAt && now - keptAt < heartbeatMs) return;
    keptAt = now;
    const text = details;
    // A store that stops meanwhile has stopped the run already.
    store.write((transaction) => keepDetails(transaction, { run: run.id, key: step.key }, text)).catch(() => {});
  };

  const context: StepContext = {
    signal,
    performance: step.performed,
    idempotencyKey: scope.nameOf(step.key),
    attempt: step.plan.attempt ?? 1,
    epoch: tools.epoch,
    heartbeat,
    lastDetails: decodeJson(step.details),
    charge: (amounts) => {
      assertAmounts(amounts);
      if (!isOver) charges = plus(charges ?? {}, amounts);
    },
  };

  const timedOut = (): Fault =>
    new Fault('STEP_TIMED_OUT', `Step ${JSON.stringify(step.key)} of run ${run.id} took longer than ${timeoutMs} ms.`, {
      data: { key: step.key, timeoutMs },
    });

  /** Rejects when the time is up; its timers end with the effect. */
  const runOut = async (limit: { readonly ms: number; readonly ending: AbortController }, ended: AbortSignal): Promise<never> => {
    await pause(timers, limit.ms, [ended, scope.signal]);
    if (!ended.aborted && !scope.signal.aborted) {
      limit.ending.abort(timedOut());
      await pause(timers, timeoutGraceMs, [ended]);
      throw limit.ending.signal.reason;
    }
    return new Promise<never>(() => {});
  };

  /** The effect within its time limit. */
  const runWithin = async <T>(working: Promise<T>, limit: { readonly ms: number; readonly ending: AbortController }): Promise<T> => {
    const ended = new AbortController();
    working.catch(() => {});
    const late = runOut(limit, ended.signal);
    late.catch(() => {});
    try {
      const outcome = await Promise.race([working, late]);
      if (limit.ending.signal.aborted) throw limit.ending.signal.reason;
      return outcome;
    } catch (error) {
      if (limit.ending.signal.aborted) throw limit.ending.signal.reason;
      throw error;
    } finally {
      ended.abort();
    }
  };

  return {
    charged: () => charges,
    keep: (row) => (details === undefined ? row : { ...row, details }),
    run: async (effect) => {
      try {
        const working = (async () => effect(context))();
        return await (ending === undefined || timeoutMs === undefined ? working : runWithin(working, { ms: timeoutMs, ending }));
      } finally {
        isOver = true;
      }
    },
  };
};
