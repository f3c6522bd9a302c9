import { CancelledError } from './cancelled-error.ts';
import { notBuilt } from './not-built.ts';
import type { StepContext, StepOptions } from './port.ts';
import type { StepKind, StepRow } from './rows.ts';
import { replayed, type Scope } from './scope.ts';

/** Performs an effect whose intent is written, and records how it ended; what was broken off by a cancel or a stop is not recorded. */
export const settleStep = async (scope: Scope, step: StepRow, effect: () => Promise<unknown>): Promise<unknown> => {
  let outcome: unknown;
  try {
    outcome = await effect();
  } catch (error) {
    const stopped = scope.stopReason();
    if (stopped !== undefined) throw stopped;
    if (scope.signal.aborted) throw scope.signal.reason;
    if (error instanceof CancelledError) throw error;
    return scope.fail(step, error);
  }
  return scope.complete(step, outcome);
};

/**
 * One step: recorded outcome, else a look at the world where an earlier performance may have left its mark, else the effect.
 * A look that throws records nothing, so that the step stays unknown and is looked up again in the next generation.
 */
export const performStep = async <T>(
  scope: Scope,
  request: { readonly key: string; readonly options: StepOptions<T>; readonly effect: (context: StepContext) => Promise<T> },
): Promise<T> => {
  const { key, options, effect } = request;
  const kind: StepKind = 'step';
  const prior = scope.enter(key, kind);
  const known = replayed(scope, prior);
  if (known !== undefined) return known.value as T;
  scope.assertMayPerform();
  if (prior !== undefined && typeof options.onCrash === 'object') {
    const found = await options.onCrash.reconcile();
    if (found !== undefined) return (await scope.complete(prior, found, { reconciled: true })) as T;
    scope.assertMayPerform();
  }
  const step = await scope.intend(key, kind);
  scope.assertMayPerform();
  const context: StepContext = {
    signal: scope.signal,
    performance: step.performed,
    idempotencyKey: `${scope.run.id}/${key}`,
    attempt: 1,
    epoch: 0,
    heartbeat: () => notBuilt('StepContext.heartbeat'),
    lastDetails: undefined,
    charge: () => notBuilt('StepContext.charge'),
  };
  return (await settleStep(scope, step, async () => effect(context))) as T;
};
