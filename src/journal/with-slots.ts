import { never } from './never.ts';
import type { Scope } from './scope.ts';
import type { Slots } from './slots.ts';

/** Holds slots around one performance. A run that is parked while it waits for them gives up its place. */
export const withSlots = async <T>(
  scope: Scope,
  slots: Slots,
  wanted: Readonly<Record<string, number>> | undefined,
  body: () => Promise<T>,
): Promise<T> => {
  if (wanted === undefined) return body();
  let release: () => void;
  try {
    const signal = AbortSignal.any([scope.signal, scope.suspended]);
    release = await slots.acquire({ wanted, priority: scope.run.priority, signal });
  } catch (error) {
    if (scope.suspended.aborted) return never();
    throw error;
  }
  if (scope.suspended.aborted) {
    release();
    return never();
  }
  try {
    return await body();
  } finally {
    release();
  }
};
