import { epochMs, type EpochMs } from '../core/ids.ts';
import type { TimeTrigger } from '../core/trigger.ts';
import { countCron } from './cron-count.ts';
import { cronTimes } from './cron.ts';
import { walkedCount } from './limits.ts';

/** When a time trigger has its windows. No clock: every answer follows from the arguments. */
export interface WindowTimes {
  /** First window after an instant, that instant excluded. */
  next(after: EpochMs): EpochMs | undefined;
  /** Windows with `after < window <= until`: how many, and the newest `most` of them, oldest first. */
  between(after: EpochMs, until: EpochMs, most: number): { readonly count: number; readonly newest: readonly EpochMs[] };
}

const intervalTimes = (everyMs: number): WindowTimes => ({
  next: (after) => epochMs((Math.floor(after / everyMs) + 1) * everyMs),
  between: (after, until, most) => {
    const last = Math.floor(until / everyMs);
    const count = Math.max(0, last - Math.floor(after / everyMs));
    const kept = Math.min(count, most);
    return { count, newest: Array.from({ length: kept }, (_, index) => epochMs((last - kept + 1 + index) * everyMs)) };
  },
});

const scheduleTimes = (cron: string, timezone: string): WindowTimes => {
  const { next: search } = cronTimes(cron, timezone);
  // Asked at every look, with the same answer until a window has ended.
  let last: { readonly after: EpochMs; readonly next: EpochMs | undefined } | undefined;
  const next = (after: EpochMs): EpochMs | undefined => {
    if (last?.after !== after) last = { after, next: search(after) };
    return last.next;
  };
  const walk = (after: EpochMs, until: EpochMs, most: number): readonly EpochMs[] => {
    const found: EpochMs[] = [];
    for (let at = next(after); at !== undefined && at <= until && found.length < most; at = search(at)) found.push(at);
    return found;
  };
  return {
    next,
    between: (after, until, most) => {
      const walked = walk(after, until, walkedCount + 1);
      if (walked.length <= walkedCount) return { count: walked.length, newest: walked.slice(-most) };
      const count = countCron({ cron, timezone, after, until });
      for (let spanMs = 3_600_000; ; spanMs *= 4) {
        const from = epochMs(Math.max(after, until - spanMs));
        const newest = walk(from, until, Infinity);
        if (newest.length >= most || from === after) return { count, newest: newest.slice(-most) };
      }
    },
  };
};

export const windowTimes = (trigger: TimeTrigger): WindowTimes =>
  trigger.on === 'every' ? intervalTimes(trigger.everyMs) : scheduleTimes(trigger.cron, trigger.timezone);
