// Cron lines of five fields, read by croner, with one rule of ours on top: a local time that exists twice (clocks go back) is one window
// when the hour is given, as vixie cron has it. `30 2 * * *` and `*/15 2 * * *` mean 2 o'clock, once; `30 * * * *` means every hour that
// passes, and both hours pass.

import { Cron } from 'croner';
import { epochMs, type EpochMs } from '../core/ids.ts';
import { isZone, offsetMs } from './zone.ts';

/** A line that is due at no time within some years (30 February) is refused; the answer does not depend on today. */
const reference = epochMs(Date.UTC(2024, 0, 1));
const hourMs = 3_600_000;
/** Longer than any change of daylight saving. */
const lookBackMs = 3 * hourMs;

export interface CronTimes {
  /** First window after an instant, that instant excluded. */
  readonly next: (after: EpochMs) => EpochMs | undefined;
}

const fieldsOf = (cron: string): readonly string[] => cron.trim().split(/\s+/);

/** The wall clock of this instant was shown once before, within the hours until now. */
const isRepeated = (zone: string, at: EpochMs): boolean => {
  const before = offsetMs(zone, at - lookBackMs);
  const setBackMs = before - offsetMs(zone, at);
  return setBackMs > 0 && offsetMs(zone, at - setBackMs) === before;
};

/** @throws an error of croner for a line that `cronProblem` refuses */
export const cronTimes = (cron: string, timezone: string): CronTimes => {
  const pattern = new Cron(cron, { timezone, mode: '5-part', paused: true });
  const isEveryHour = fieldsOf(cron)[1]?.startsWith('*') === true;
  return {
    next: (after) => {
      for (let from = after; ;) {
        const found = pattern.nextRun(new Date(from));
        if (found === null) return undefined;
        from = epochMs(found.getTime());
        if (isEveryHour || !isRepeated(timezone, from)) return from;
      }
    },
  };
};

/** What is wrong with a cron line, `undefined` when it can be used. */
export const cronProblem = (cron: string): string | undefined => {
  const fields = fieldsOf(cron);
  if (fields.length !== 5) return `${fields[0] === '' ? 0 : fields.length} fields`;
  // croner puts the present time in its place, so that the line would mean something else at every start.
  if (cron.includes('?')) return 'a ?, which stands for no time';
  try {
    if (cronTimes(cron, 'UTC').next(reference) === undefined) return 'a line that is never due';
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern:\s*/, '');
  }
  return undefined;
};

/** Shortest time between two neighbouring windows, of the first 500 from 2024 on. */
export const shortestGapMs = (cron: string, timezone: string): number => {
  const times = cronTimes(cron, isZone(timezone) ? timezone : 'UTC');
  let shortest = Infinity;
  let last = times.next(reference);
  for (let n = 0; n < 500 && last !== undefined; n += 1) {
    const next = times.next(last);
    if (next === undefined) break;
    shortest = Math.min(shortest, next - last);
    last = next;
  }
  return shortest;
};
