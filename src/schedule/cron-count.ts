// How many windows of a cron line lie in a stretch of months, without walking through them (a minute's line has half a million a year):
// a day without a change of clocks has as many windows as any other such day that matches the line's date fields.

import { epochMs, type EpochMs } from '../core/ids.ts';
import { cronTimes } from './cron.ts';
import { offsetMs, wallMs } from './zone.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Windows of a cron line with `after < window < before`. */
const walk = (
  cron: string,
  timezone: string,
  { after, before }: { readonly after: number; readonly before: number },
): readonly EpochMs[] => {
  const times = cronTimes(cron, timezone);
  const found: EpochMs[] = [];
  for (let at = times.next(epochMs(after)); at !== undefined && at < before; at = times.next(at)) found.push(at);
  return found;
};

/**
 * Number of windows with `after < window <= until`.
 * Whole days are named by their noon, because in some zones midnight does not exist on the day clocks change, and noon always does.
 */
export const countCron = ({
  cron,
  timezone,
  after,
  until,
}: {
  readonly cron: string;
  readonly timezone: string;
  readonly after: EpochMs;
  readonly until: EpochMs;
}): number => {
  const isPlain = (noon: number): boolean => offsetMs(timezone, noon - 14 * hourMs) === offsetMs(timezone, noon + 14 * hourMs);
  const count = (from: number, before: number): number => walk(cron, timezone, { after: from, before }).length;

  const noons = cronTimes('0 12 * * *', timezone);
  let first = noons.next(epochMs(after + dayMs / 2));
  while (first !== undefined && !isPlain(first)) first = noons.next(first);
  const last = walk('0 12 * * *', timezone, { after: until - 6 * dayMs, before: until }).findLast(
    (noon) => isPlain(noon) && noon - 12 * hourMs <= until,
  );
  if (first === undefined || last === undefined || last <= first) return count(after, until + 1);

  const begin = first - 12 * hourMs;
  const end = last - 12 * hourMs;
  const [, , ...date] = cron.trim().split(/\s+/);
  let aDay: number | undefined;
  let middle = 0;
  for (const noon of walk(`0 12 ${date.join(' ')}`, timezone, { after: begin, before: end })) {
    if (isPlain(noon)) middle += aDay ??= count(noon - 12 * hourMs - 1, noon + 12 * hourMs);
    else {
      const day = Math.floor(wallMs(timezone, noon) / dayMs);
      middle += walk(cron, timezone, { after: noon - 16 * hourMs, before: noon + 16 * hourMs }).filter(
        (at) => Math.floor(wallMs(timezone, at) / dayMs) === day,
      ).length;
    }
  }
  return count(after, begin) + middle + count(end - 1, until + 1);
};
