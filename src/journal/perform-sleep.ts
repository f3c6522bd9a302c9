import { replayed, type Scope } from './scope.ts';
import { endWait, writeWait } from './wait-records.ts';
import { epochMs } from '../core/ids.ts';
import { type Clockwork, waitUntil } from './wait-until.ts';

/** How long, from the first execution, or until when. */
export type SleepLength = { readonly ms: number } | { readonly at: number };

/**
 * Waits until an instant that is recorded first, so that a restart waits for the rest only. A clock set back never makes the wait
 * longer than asked.
 */
export const performSleep = async (
  scope: Scope,
  clockwork: Clockwork,
  request: { readonly key: string; readonly length: SleepLength },
): Promise<void> => {
  const { key, length } = request;
  const prior = scope.enter(key, 'sleep');
  if (replayed(scope, prior) !== undefined) return;
  const goesOn = prior?.state === 'intended' && prior.generation === scope.run.generation && prior.plan.until !== undefined;
  const asked = 'ms' in length ? clockwork.clock() + length.ms : length.at;
  const until = goesOn ? (prior.plan.until ?? 0) : asked;
  const step = goesOn
    ? prior
    : await scope.perform(() =>
        scope.intend(key, 'sleep', {
          plan: { until },
          details: { until },
          also: (transaction) => writeWait(transaction, scope.run.id, { key, on: 'timer', until: epochMs(until) }),
        }),
      );
  await waitUntil(scope, clockwork, { until, mostMs: 'ms' in length ? length.ms : Infinity });
  await scope.perform(() => scope.complete(step, undefined, { also: (transaction) => endWait(transaction, scope.run.id, key) }));
};
