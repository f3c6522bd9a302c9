import type { EpochMs } from '../core/ids.ts';
import { never } from './never.ts';
import { pause } from './pause.ts';
import type { Timers } from './port.ts';
import type { Scope } from './scope.ts';

export interface Clockwork {
  readonly clock: () => EpochMs;
  readonly timers: Timers;
}

/** The clock is looked at again after this time, because the timers of a suspended machine stand still. */
const sliceMs = 10_000;

/**
 * Waits until an instant. A clock set back never makes the wait longer than `mostMs`. Ends early when `wake` aborts.
 * @returns whether the time is up
 * @throws why the run may not go on; never settles when the run is parked meanwhile
 */
export const waitUntil = async (
  scope: Scope,
  clockwork: Clockwork,
  wait: { readonly until: number; readonly mostMs: number; readonly wake?: AbortSignal },
): Promise<boolean> => {
  const { clock, timers } = clockwork;
  const { until, mostMs, wake } = wait;
  const signals = [scope.signal, scope.suspended, ...(wake === undefined ? [] : [wake])];
  const isWoken = (): boolean => wake?.aborted === true;
  let leftMs = Math.min(mostMs, until - clock());
  for (;;) {
    if (leftMs <= 0 || isWoken()) break;
    const waitMs = Math.min(leftMs, sliceMs);
    await pause(timers, waitMs, signals);
    if (scope.suspended.aborted) return never();
    scope.assertMayPerform();
    // Woken early: the slice has not passed, so that it must not count as waited.
    if (isWoken()) return until <= clock();
    leftMs = Math.min(leftMs - waitMs, until - clock());
  }
  if (scope.suspended.aborted) return never();
  scope.assertMayPerform();
  return leftMs <= 0;
};
