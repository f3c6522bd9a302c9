import { durationMsMax } from './limits.ts';

/** Days, hours, minutes, seconds, milliseconds, each at most once and in this order; a bare number has no unit and is refused. */
export const durationPattern = /^(?=\d)(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9})s)?(?:(\d{1,9})ms)?$/;

const unitMs = [86_400_000, 3_600_000, 60_000, 1000, 1];

/**
 * Milliseconds of a duration such as `45m`, `90s`, `1h30m` or `500ms`.
 * @returns `undefined` for anything else, for zero, and for more than seven days
 */
export const parseDuration = (text: string): number | undefined => {
  const found = durationPattern.exec(text);
  if (found === null) return undefined;
  const ms = unitMs.reduce((sum, unit, index) => sum + unit * Number(found[index + 1] ?? 0), 0);
  return ms > 0 && ms <= durationMsMax ? ms : undefined;
};
