import type { Fault } from '../core/fault.ts';
import type { RunRow } from './port.ts';

interface Waiter {
  readonly ended: Promise<RunRow>;
  readonly resolve: (run: RunRow) => void;
  readonly reject: (fault: Fault) => void;
}

const newWaiter = (): Waiter => {
  const { promise, resolve, reject } = Promise.withResolvers<RunRow>();
  // A caller that only starts a run must not be ended by a stopped engine.
  promise.catch(() => {});
  return { ended: promise, resolve, reject };
};

/** Who waits for the end of which run. */
export interface Waiters {
  ended(run: string): Promise<RunRow>;
  resolve(run: RunRow): void;
  /** The engine has stopped: nobody hears of an end any more. */
  rejectAll(fault: Fault): void;
}

/** @param resolvePayloads gives the row as callers see it */
export const createWaiters = (resolvePayloads: (run: RunRow) => RunRow): Waiters => {
  const waiters = new Map<string, Waiter>();
  return {
    ended: (run) => {
      const waiter = waiters.get(run) ?? newWaiter();
      waiters.set(run, waiter);
      return waiter.ended;
    },
    resolve: (run) => {
      const waiter = waiters.get(run.id);
      waiters.delete(run.id);
      try {
        waiter?.resolve(resolvePayloads(run));
      } catch (error) {
        // A blob that is gone: whoever waits hears it, and the engine goes on.
        waiter?.reject(error as Fault);
      }
    },
    rejectAll: (fault) => {
      for (const waiter of waiters.values()) waiter.reject(fault);
      waiters.clear();
    },
  };
};
