// When a service that refused will serve again, out of the words it refused with. Seen in the field:
//
//   You've hit your limit · resets 2:30am (Europe/Berlin)          Your limit will reset at 3pm (America/New_York).
//   Claude AI usage limit reached|1748916000                       limit reached, resets Oct 9, 10am (UTC)
//   Please try again in 3h 12m / in 20.5s / in 2 days 3 hours      try again at Dec 4th, 2026 3:14 AM
//   retry-after: 30 / Retry-After: Wed, 21 Oct 2026 07:28:00 GMT   resets at 2026-11-30T02:30:00Z
import { epochMs, type EpochMs } from './ids.ts';
import { knownZone, utcInstant, wallTimeAt, zoneInstant, type WallTime } from './zone-clock.ts';

export interface ResetTime {
  /** After the moment it was said, and at most 8 days after it. */
  readonly at: EpochMs;
  /** What was taken for granted, as a sentence; empty where nothing was. */
  readonly note: string;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Weekly limits are the longest that were seen, and a day more for zones. What is said to last longer is asked again after this. */
const longestMs = 8 * dayMs;
/** Letters of a message that are looked at. */
const lettersMax = 4_000;

/** Words after which a time is the time of a reset. A time without them is just a time. */
const lead = String.raw`(?:resets?|renews?|retry|try\s+again|available(?:\s+again)?|wait|until)`;
const filler = String.raw`(?:[\s:,·]|\b(?:at|on|in|after|for|about|approximately|approx\.?|please|your|limit|will|be|again|is|the|to|usage|access)\b)*`;

const unitMs: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|msecs?|milliseconds?)$/, 1],
  [/^(?:s|secs?|seconds?)$/, 1000],
  [/^(?:m|mins?|minutes?)$/, minuteMs],
  [/^(?:h|hrs?|hours?)$/, hourMs],
  [/^(?:d|days?)$/, dayMs],
];
const amount = String.raw`\d{1,6}(?:\.\d{1,6})?\s*(?:milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])`;
const durationAfterLead = new RegExp(`\\b${lead}\\b${filler}(${amount}(?:(?:\\s|,|\\band\\b)*${amount})*)`, 'i');

const durationMs = (text: string): number => {
  let total = 0;
  for (const [, digits, unit] of text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)) {
    total += Number(digits) * (unitMs.find(([pattern]) => pattern.test(unit ?? ''))?.[1] ?? 0);
  }
  return total;
};

// RFC 9110, 10.2.3: seconds, or a date as HTTP writes it.
const retryAfterSeconds =
  /\bretry[-_ ]?after(?:[-_ ]?(?:s|sec|secs|seconds))?["']?\s*[:=]?\s*["']?(\d{1,7}(?:\.\d{1,3})?)(?![\d:.-])(?!\s*[a-z])/i;
const retryAfterMs = /\bretry[-_ ]?after[-_ ]?ms["']?\s*[:=]?\s*["']?(\d{1,10})\b/i;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const monthOf = (text: string): number => months.indexOf(text.slice(0, 3).toLowerCase()) + 1;
const httpDate = /\bretry[-_ ]?after["']?\s*[:=]?\s*["']?(?:[a-z]{3}, )?(\d{1,2}) ([a-z]{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT/i;

const isoTime = new RegExp(
  `\\b${lead}\\b${filler}["']?(\\d{4})-(\\d{2})-(\\d{2})[T ](\\d{2}):(\\d{2})(?::(\\d{2})(?:\\.\\d+)?)?\\s*(Z|UTC|[+-]\\d{2}:?\\d{2})?`,
  'i',
);
/** Seconds or milliseconds since 1970, from 2001 to 2286. */
const epochTime = new RegExp(
  `(?:\\b(?:limit|quota) reached\\s*\\||\\b${lead}(?:[-_ ]?at)?\\b${filler}[=:"']*\\s*)(\\d{10}|\\d{13})(?!\\d)`,
  'i',
);

const monthName = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?';
const clock = String.raw`(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?\s*(am|pm|a\.m\.|p\.m\.)?`;
const zoneName = String.raw`(?:\s*\(([^()\n]{1,60})\)|\s+(UTC|GMT|[A-Z][A-Za-z_]+/[A-Za-z_/+-]+\d*))?`;
const clockTime = new RegExp(
  `\\b${lead}\\b${filler}(?:${monthName}\\s+(\\d{1,2})(?:st|nd|rd|th)?(?:,?\\s+(\\d{4}))?(?:,|\\s|\\bat\\b)+)?${clock}(?![\\d:/-])${zoneName}`,
  'i',
);

/** What a text says, before it is held against the moment it was said. */
interface Said {
  readonly at: number;
  readonly note: string;
}

const said = (at: number, note = ''): Said => ({ at, note });

const fromDurations = (text: string, saidAt: EpochMs): Said | undefined => {
  const ms = retryAfterMs.exec(text)?.[1];
  if (ms !== undefined) return said(saidAt + Number(ms));
  const seconds = retryAfterSeconds.exec(text)?.[1];
  if (seconds !== undefined) return said(saidAt + Number(seconds) * 1000);
  const duration = durationAfterLead.exec(text)?.[1];
  return duration === undefined ? undefined : said(saidAt + durationMs(duration));
};

const offsetMs = (zone: string): number => {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * hourMs + Number(minutes ?? 0) * minuteMs);
};

const fromInstants = (text: string, localZone: string): Said | undefined => {
  const epoch = epochTime.exec(text)?.[1];
  if (epoch !== undefined) return said(epoch.length === 13 ? Number(epoch) : Number(epoch) * 1000);
  const http = httpDate.exec(text);
  if (http !== null) {
    const [, day, month, year, hour, minute, second] = http;
    return said(utcInstant(wall([year, monthOf(month ?? ''), day, hour, minute, second])));
  }
  const iso = isoTime.exec(text);
  if (iso === null) return undefined;
  const [, year, month, day, hour, minute, second, zone] = iso;
  const time = wall([year, month, day, hour, minute, second]);
  if (zone === undefined) return said(zoneInstant(time, localZone), `The reset time names no zone; it was read as ${localZone}.`);
  return said(utcInstant(time) - offsetMs(zone));
};

const wall = (parts: readonly (string | number | undefined)[]): WallTime => {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map((part) => Number(part ?? 0));
  return { year, month, day, hour, minute, second };
};

/** The zone that was named, or the local one with a sentence about it. */
const zoneOf = (name: string | undefined, localZone: string): { readonly zone: string; readonly note: string } => {
  const zone = name === undefined ? undefined : knownZone(name.trim());
  if (zone !== undefined) return { zone, note: '' };
  const why = name === undefined ? 'The reset time names no zone' : `The time zone ${name.trim()} of the reset time is not known`;
  return { zone: localZone, note: `${why}; it was read as ${localZone}.` };
};

const hourOf = (digits: string, half: string | undefined): number | undefined => {
  const hour = Number(digits);
  if (half === undefined) return hour <= 23 ? hour : undefined;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half.toLowerCase().startsWith('p') ? 12 : 0);
};

const fromClock = (text: string, saidAt: EpochMs, localZone: string): Said | undefined => {
  const found = clockTime.exec(text);
  if (found === null) return undefined;
  const [, month, day, year, hourDigits = '', minute, second, half, inBrackets, bare] = found;
  // A bare number is a clock only with minutes, half of the day or a date beside it.
  if (minute === undefined && half === undefined) return undefined;
  const hour = hourOf(hourDigits, half);
  if (hour === undefined || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59) return undefined;
  const { zone, note } = zoneOf(inBrackets ?? bare, localZone);
  const today = wallTimeAt(saidAt, zone);
  const time = { hour, minute: Number(minute ?? 0), second: Number(second ?? 0) };
  if (month === undefined) {
    const at = zoneInstant({ ...today, ...time }, zone);
    // Seen at 23:00, "2:30am" is tomorrow's.
    return said(at > saidAt ? at : zoneInstant({ ...today, day: today.day + 1, ...time }, zone), note);
  }
  const onDay = (inYear: number): EpochMs => zoneInstant({ year: inYear, month: monthOf(month), day: Number(day), ...time }, zone);
  if (year !== undefined) return said(onDay(Number(year)), note);
  // A date without its year is the nearest one: at the end of December, "Jan 2" is next year's.
  const [nearest] = [today.year - 1, today.year, today.year + 1]
    .map((inYear) => onDay(inYear))
    .toSorted((a, b) => Math.abs(a - saidAt) - Math.abs(b - saidAt));
  return nearest === undefined ? undefined : said(nearest, note);
};

/**
 * Reads when a service will serve again. Pure. Give it only what an agent's adapter takes for the text of an error: the same words in a
 * file that an agent reads or writes mean nothing (LIM-01).
 * @param text the message of an error
 * @param heard `saidAt`: when it was said; `localZone`: for a time without a known zone, IANA name
 * @returns undefined when it names no time, or one that was over when it was said. A time further away than 8 days comes back as 8 days.
 */
export const resetTimeOf = (text: string, heard: { readonly saidAt: EpochMs; readonly localZone: string }): ResetTime | undefined => {
  const { saidAt, localZone } = heard;
  const head = text.slice(0, lettersMax);
  const found = fromInstants(head, localZone) ?? fromDurations(head, saidAt) ?? fromClock(head, saidAt, localZone);
  if (found === undefined || !Number.isFinite(found.at) || found.at <= saidAt) return undefined;
  return resetWithin(found.at, saidAt, found.note);
};

/** A reset that is known as an instant, held to the longest wait. */
const resetWithin = (at: number, saidAt: EpochMs, note: string): ResetTime => {
  if (at <= saidAt + longestMs) return { at: epochMs(Math.ceil(at)), note };
  return {
    at: epochMs(saidAt + longestMs),
    note: `${note} The reset is said to be more than 8 days away; it is asked again after 8 days.`.trim(),
  };
};

/** The same for an instant that a field of the agent's output gives, in seconds or milliseconds since 1970. Pure. */
export const resetTimeFromEpoch = (value: number | undefined, saidAt: EpochMs): ResetTime | undefined => {
  if (value === undefined || !Number.isFinite(value)) return undefined;
  const at = value < 1e11 ? value * 1000 : value;
  return at <= saidAt ? undefined : resetWithin(at, saidAt, '');
};
