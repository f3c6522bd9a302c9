// One step: recorded outcome, else a look at the world where an earlier performance may have left its mark, else the effect, tried again
// as its policy says. A look that throws records nothing, so that the step stays unknown and is looked up again in the next generation.
import { Defect, type Fault } from '../core/fault.ts';
import { CancelledError } from './cancelled-error.ts';
import { checkSchema } from './check-schema.ts';
import { errorRecord, faultOfRecord } from './error-record.ts';
import { never } from './never.ts';
import { createPerformance, type PerformanceTools } from './performance.ts';
import type { StepContext, StepOptions } from './port.ts';
import { retryDelayMs } from './retry-policy.ts';
import type { StepRow } from './rows.ts';
import { replayed, type Scope } from './scope.ts';
import type { Slots } from './slots.ts';
import { withSlots } from './with-slots.ts';
import { waitUntil } from './wait-until.ts';

export interface StepTools extends PerformanceTools {
  readonly slots: Slots;
}

interface StepRequest<T> {
  readonly key: string;
  readonly options: StepOptions<T>;
  readonly effect: (context: StepContext) => Promise<T>;
}

type Tried = { readonly tried: 'done'; readonly value: unknown } | { readonly tried: 'again'; readonly step: StepRow };

/** Why what was thrown is no failure of the effect: the engine stopped, or the run or its branch was cancelled. */
const brokenOffBy = (scope: Scope, error: unknown): { readonly reason: unknown } | undefined => {
  const stopped = scope.stopReason();
  if (stopped !== undefined) return { reason: stopped };
  if (scope.signal.aborted) return { reason: scope.signal.reason };
  return error instanceof CancelledError ? { reason: error } : undefined;
};

/** Performs an effect whose intent is written and records how it ended; what was broken off is not recorded, but what it spent is. */
const tryOnce = async <T>(
  scope: Scope,
  tools: StepTools,
  { step, request }: { step: StepRow; request: StepRequest<T> },
): Promise<Tried> => {
  const { options, effect, key } = request;
  const performance = createPerformance(scope, tools, { step, timeoutMs: options.timeoutMs });
  let outcome: T;
  try {
    outcome = checkSchema(options.schema, await performance.run(effect), `The outcome of step ${JSON.stringify(key)}`);
  } catch (error) {
    const broken = brokenOffBy(scope, error);
    if (broken !== undefined) {
      const spent = performance.charged();
      if (spent !== undefined && scope.stopReason() === undefined) await scope.charge(key, spent);
      throw broken.reason;
    }
    return failOrRetry(scope, tools, { step: performance.keep(step), request, error, charge: performance.charged() });
  }
  const charge = performance.charged();
  return { tried: 'done', value: await scope.complete(performance.keep(step), outcome, charge === undefined ? {} : { charge }) };
};

const failOrRetry = async <T>(
  scope: Scope,
  tools: StepTools,
  failed: {
    readonly step: StepRow;
    readonly request: StepRequest<T>;
    readonly error: unknown;
    readonly charge: Readonly<Record<string, number>> | undefined;
  },
): Promise<Tried> => {
  const { step, request, charge } = failed;
  const record = errorRecord(failed.error);
  const error: Fault = faultOfRecord(record, failed.error);
  const delayMs = retryDelayMs(request.options.retry, { attempt: attemptOf(step), error, isDefect: failed.error instanceof Defect });
  if (delayMs === undefined) return scope.fail(step, failed.error, charge === undefined ? {} : { charge });
  const waiting = { ...step, error: record, nextTryAt: tools.clock() + delayMs };
  const again = await scope.retry(waiting, charge);
  return { tried: 'again', step: again };
};

const attemptOf = (step: StepRow): number => step.plan.attempt ?? 1;

/** A step that may have happened, although nothing is recorded of its end. */
const isUnknown = (prior: StepRow | undefined): boolean => prior?.state === 'intended' && prior.nextTryAt === undefined;

const askPerson = (scope: Scope, key: string): Promise<never> =>
  scope.park({
    code: 'STEP_UNKNOWN',
    message: `Step ${JSON.stringify(key)} of run ${scope.run.id} was begun and its end is not known: it may have happened.`,
    step: key,
  });

export const performStep = async <T>(scope: Scope, tools: StepTools, request: StepRequest<T>): Promise<T> => {
  const { key, options } = request;
  const { onCrash, schema, slots } = options;
  const prior = scope.enter(key, 'step');
  const checked = (value: unknown): T => checkSchema(schema, value, `The recorded outcome of step ${JSON.stringify(key)}`);
  const known = replayed(scope, prior);
  if (known !== undefined) return checked(known.value);
  scope.assertMayPerform();
  if (onCrash === 'ask' && isUnknown(prior)) return askPerson(scope, key);

  const isOfThisGeneration = prior?.generation === scope.run.generation;
  let last: StepRow | undefined = prior;
  let attempt = prior?.state === 'intended' && isOfThisGeneration ? attemptOf(prior) : 1;
  for (;;) {
    if (last?.state === 'intended' && last.nextTryAt !== undefined && last.generation === scope.run.generation) {
      await waitUntil(scope, tools, { until: last.nextTryAt, mostMs: Infinity });
      attempt += 1;
    }
    if (scope.suspended.aborted) return never();
    if (last !== undefined && typeof onCrash === 'object') {
      const found = await onCrash.reconcile();
      if (found !== undefined) {
        const seen = last;
        return checked(await scope.perform(() => scope.complete(seen, found, { details: { reconciled: true } })));
      }
    }
    const tried = await withSlots(scope, tools.slots, slots, () =>
      scope.perform(async () => {
        const plan = attempt === 1 ? {} : { attempt };
        const step = await scope.intend(key, 'step', { plan, details: plan });
        scope.assertMayPerform();
        return tryOnce(scope, tools, { step, request });
      }),
    );
    if (tried.tried === 'done') return tried.value as T;
    last = tried.step;
  }
};
