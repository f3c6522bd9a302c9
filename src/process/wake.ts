// Wakes the engine when something changes in a job folder: the system tells of it, and a slow poll is the net under that.
import { watch } from 'node:fs';

/** With a working watch the poll only finds what no file tells: a shim that was killed. Each job adds to the time between two looks. */
const netMs = 500;
const netMsAJob = 4;
const longestNetMs = 5_000;
/** Without one (too many watches, a file system that does not tell) the poll is all there is. */
const pollMs = 25;
/** A flood changes files thousands of times a second; more often than this nobody is woken. */
const restMs = 10;

export interface Wake {
  /** Settles at the next change, or at the next poll. */
  next(): Promise<void>;
  close(): void;
}

const nobody = (): void => {};

/** Of this process, now. */
let watchedJobs = 0;
const netNowMs = (): number => Math.min(longestNetMs, netMs + netMsAJob * watchedJobs);

/** @param isNews tells by the name of the changed file whether to wake */
export const wakeOn = (folder: string, isNews: (file: string) => boolean): Wake => {
  let changed = false;
  let wake = nobody;
  let hasWatch = true;
  const onPoll = (): void => {
    hasWatch = false;
  };
  const watcher = ((): { close(): void } | undefined => {
    try {
      const watching = watch(folder, (_event, file) => {
        if (file !== null && !isNews(file)) return;
        changed = true;
        wake();
      });
      return watching.on('error', onPoll);
    } catch {
      onPoll();
      return undefined;
    }
  })();
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  watchedJobs += 1;
  return {
    async next() {
      if (!changed) await pause(hasWatch ? netNowMs() : pollMs);
      wake = nobody;
      if (changed) await new Promise((resolve) => setTimeout(resolve, restMs));
      changed = false;
    },
    close() {
      watchedJobs -= 1;
      watcher?.close();
    },
  };
};
