// Wall clocks of time zones, by the tables of Intl.
import { epochMs, type EpochMs } from './ids.ts';

/** A date and a time as a clock on the wall shows them. `month` counts from 1. */
export interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const dayMs = 86_400_000;

/**
 * Days from 1 January 1970 to a date of the proleptic Gregorian calendar; months and days beyond their range carry over.
 * Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
 */
const daysFromCivil = ({ year, month, day }: Pick<WallTime, 'year' | 'month' | 'day'>): number => {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
};

/** The instant at which a clock at UTC shows this. Days beyond the end of a month carry over. */
export const utcInstant = (wall: WallTime): EpochMs =>
  epochMs(daysFromCivil(wall) * dayMs + ((wall.hour * 60 + wall.minute) * 60 + wall.second) * 1000);

/** @returns the zone's name as Intl writes it, `undefined` for a name it does not know */
export const knownZone = (name: string): string | undefined => {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
};

/** What the clocks of a zone show at an instant. @throws RangeError for an unknown zone */
export const wallTimeAt = (instant: EpochMs, zone: string): WallTime => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return {
    year: part('year'),
    month: part('month'),
    day: part('day'),
    hour: part('hour'),
    minute: part('minute'),
    second: part('second'),
  };
};

/**
 * The instant at which the clocks of a zone show this. A time that is shown twice (clocks go back) means the later one, a time that is
 * skipped (clocks go forward) the instant as far after the skip: whoever waits for it never comes too early.
 * @throws RangeError for an unknown zone
 */
export const zoneInstant = (wall: WallTime, zone: string): EpochMs => {
  const asUtc = utcInstant(wall);
  const offsetAt = (instant: number): number => {
    const whole = epochMs(Math.floor(instant / 1000) * 1000);
    return utcInstant(wallTimeAt(whole, zone)) - whole;
  };
  // No zone changes its clocks twice within two days, so these are the offsets before and after any change near by.
  const candidates = [offsetAt(asUtc - dayMs), offsetAt(asUtc + dayMs)].map((offset) => epochMs(asUtc - offset));
  const shown = candidates.filter((instant) => instant + offsetAt(instant) === asUtc);
  return epochMs(Math.max(...(shown.length > 0 ? shown : candidates)));
};
