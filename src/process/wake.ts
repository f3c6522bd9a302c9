// Wakes the engine when something changes in a job folder: the system tells of it, and a slow poll is the net under that.
import { watch } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';

/** With a working watch the poll only finds what no file tells: a shim that was killed. Each job adds to the time between two looks. */
const netMs = 500;
const netMsAJob = 4;
const longestNetMs = 5_000;
/** Without one (too many watches, a file system that does not tell) the poll is all there is. */
const pollMs = 25;
/** A flood changes files thousands of times a second; more often than this nobody is woken. Each job adds to it as well. */
const restMs = 10;
const restMsAJob = 2;
const longestRestMs = 1_000;

/** `urgent`: wake at once. `soon`: after a rest, with all that changes meanwhile. */
export type News = 'urgent' | 'soon' | 'none';

export interface Wake {
  /** Settles at the next change, or at the next poll. @returns `soon` when nothing else was told since */
  next(): Promise<'soon' | 'look'>;
  close(): void;
}

/** Of this process, now. */
let watchedJobs = 0;
const restNowMs = (): number => Math.min(longestRestMs, restMs + restMsAJob * watchedJobs);
const netNowMs = (): number => Math.min(longestNetMs, netMs + netMsAJob * watchedJobs);

/** @param newsOf tells by the name of the changed file whether to wake */
export const wakeOn = (folder: string, newsOf: (file: string) => News): Wake => {
  let news: News = 'none';
  let wake = (): void => {};
  let hasWatch = true;
  const onPoll = (): void => {
    hasWatch = false;
  };
  const watcher = ((): { close(): void } | undefined => {
    try {
      const watching = watch(folder, (_event, file) => {
        const told = file === null ? 'urgent' : newsOf(file);
        if (told === 'none' || news === 'urgent') return;
        news = told;
        wake();
      });
      return watching.on('error', onPoll);
    } catch {
      onPoll();
      return undefined;
    }
  })();
  /** Over after a time, or when the news is what is waited for. */
  const pause = (ms: number, isOver: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      if (isOver()) return resolve();
      const timer = setTimeout(resolve, ms);
      wake = () => {
        if (!isOver()) return;
        clearTimeout(timer);
        resolve();
      };
    });
  watchedJobs += 1;
  return {
    async next() {
      await pause(hasWatch ? netNowMs() : pollMs, () => news !== 'none');
      if (news === 'soon') await pause(restNowMs(), () => news === 'urgent');
      wake = () => {};
      // Away from the timers: what goes on here sets the next one, and with many jobs one of them would always be due, so that nothing but
      // timers was ever served.
      await turn();
      const seen = news;
      news = 'none';
      return seen === 'soon' ? 'soon' : 'look';
    },
    close() {
      watchedJobs -= 1;
      watcher?.close();
    },
  };
};
