import type { Timers } from './port.ts';

/** Waits, at most until one of the signals aborts; never rejects and leaves no timer behind. */
export const pause = (timers: Timers, ms: number, signals: readonly AbortSignal[]): Promise<void> =>
  new Promise((resolve) => {
    if (signals.some((signal) => signal.aborted)) {
      resolve();
      return;
    }
    const finish = (): void => {
      timer.cancel();
      for (const signal of signals) signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = timers.after(ms, finish);
    for (const signal of signals) signal.addEventListener('abort', finish, { once: true });
  });
