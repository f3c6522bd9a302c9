import type { EpochMs } from '../core/ids.ts';
import { pause } from './pause.ts';
import { replayed, type Scope } from './scope.ts';

/** The clock is looked at again after this time, because the timers of a suspended machine stand still. */
const sliceMs = 10_000;

/**
 * Waits until an instant that is recorded first, so that a restart waits for the rest only. A clock set back never makes the wait
 * longer than asked.
 * @param request `ms` is counted from the first execution
 */
export const performSleep = async (
  scope: Scope,
  request: { readonly key: string; readonly ms: number; readonly clock: () => EpochMs },
): Promise<void> => {
  const { key, ms, clock } = request;
  const prior = scope.enter(key, 'sleep');
  if (replayed(scope, prior) !== undefined) return;
  scope.assertMayPerform();
  const goesOn = prior?.generation === scope.run.generation && prior.plan.until !== undefined;
  const until = goesOn ? (prior.plan.until ?? 0) : clock() + ms;
  const step = goesOn ? prior : await scope.intend(key, 'sleep', { plan: { until }, details: { until } });
  let leftMs = Math.min(ms, until - clock());
  while (leftMs > 0) {
    const waitMs = Math.min(leftMs, sliceMs);
    await pause(waitMs, scope.signal);
    scope.assertMayPerform();
    leftMs = Math.min(leftMs - waitMs, until - clock());
  }
  scope.assertMayPerform();
  await scope.complete(step, undefined);
};
