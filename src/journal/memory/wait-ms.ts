import type { Frame } from './frame.ts';

/** Waits, at most until the branch is aborted; never rejects and leaves no timer behind. */
export const waitMs = (frame: Frame, ms: number): Promise<void> =>
  new Promise((resolve) => {
    if (ms <= 0 || frame.signal.aborted) {
      resolve();
      return;
    }
    const finish = (): void => {
      timer.cancel();
      frame.signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = frame.shared.life.options.timers.after(ms, finish);
    frame.signal.addEventListener('abort', finish, { once: true });
  });
