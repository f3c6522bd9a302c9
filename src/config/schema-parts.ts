// The leaves of both schemas. Every leaf carries one text, "wanted", that is at once its error message and what `issueText` prints
// after "wanted": a message that says what is right needs no second sentence about what is wrong.

import { z } from 'zod';
import { budgetPattern, parseBudget } from './budget.ts';
import { durationPattern, parseDuration } from './duration.ts';
import { parseSize, sizePattern } from './size.ts';

export interface Told {
  readonly description: string;
  /** Shown by editors. The value itself is filled in after the layers are merged, so that its origin is known. */
  readonly default?: unknown;
}

/** A non-empty text. */
export const text = (wanted: string, told: Told, lettersMax = 4000) =>
  z
    .string({ error: wanted })
    .regex(/\S/, { error: wanted })
    .max(lettersMax, { error: `${wanted} of at most ${lettersMax} letters` })
    .meta({ ...told });

export const count = (min: number, max: number, told: Told) => {
  const error = `a whole number from ${min} to ${max}`;
  return z
    .number({ error })
    .int({ error })
    .min(min, { error })
    .max(max, { error })
    .meta({ ...told });
};

export const flag = (told: Told) => z.boolean({ error: 'true or false' }).meta({ ...told });

export const choice = <const Values extends readonly [string, ...string[]]>(values: Values, told: Told) =>
  z.enum(values, { error: `one of ${values.join(', ')}` }).meta({ ...told });

export const duration = (told: Told) => {
  const error = 'a duration with its unit from 1ms to 7d, such as 90s, 45m or 1h30m';
  return z
    .string({ error })
    .regex(durationPattern, { error, abort: true })
    .refine((value) => parseDuration(value) !== undefined, { error })
    .meta({ ...told });
};

/** @param most the largest size, such as `1gb` */
export const size = (told: Told, most = '1gb') => {
  const error = `a size from 64kb to ${most} with its unit, such as 10mb`;
  const bytesMax = parseSize(most) ?? 0;
  return z
    .string({ error })
    .regex(sizePattern, { error, abort: true })
    .refine((value) => (parseSize(value) ?? 0) >= 64 * 1024 && (parseSize(value) ?? 0) <= bytesMax, { error })
    .meta({ ...told });
};

export const budget = (told: Told) => {
  const error = 'a budget such as $5, 200k tokens, or both as a list, or none';
  const one = z.string({ error }).regex(budgetPattern, { error });
  return z
    .union([z.string({ error }), z.array(one, { error }).min(1, { error }).max(2, { error })], { error })
    .refine((value) => parseBudget(value) !== undefined, { error })
    .meta({ ...told });
};

/** A path inside the repository: relative, with `/`, never climbing out. */
const inside = /^(?!\/|[A-Za-z]:)(?!.*(?:^|\/)\.\.(?:\/|$))[^\\]*[^\\\s][^\\]*$/;
/** A glob may also escape with a backslash (`app/\[id\]/**`); one that begins with `!` would mean everything else. */
const insideGlob = /^(?!\/|!|[A-Za-z]:)(?!.*(?:^|\/)\.\.(?:\/|$)).*\S.*$/;

export const relativePath = (told: Told) =>
  text('a path inside the repository, relative and with /', told).regex(inside, {
    error: 'a path inside the repository, relative and with /',
  });

export const globs = (told: Told) => {
  const error = 'a list of globs such as ["**/*.test.*"], relative to the repository root, none beginning with !';
  return z
    .array(z.string({ error }).regex(insideGlob, { error }), { error })
    .max(1000, { error })
    .meta({ ...told });
};

/** Parts of a path, none of them empty, `.`, `..` or `.git`. */
const folder = /^(?:(?!\.{1,2}(?:\/|$)|\.git(?:\/|$))[^/\\]+(?:\/(?!$)|$))+$/;
const within = (folderName: string, other: string): boolean => other === folderName || other.startsWith(`${folderName}/`);

export const folders = (told: Told) => {
  const error = 'a list of folders such as [node_modules], relative to the folder that holds .gyre, none inside another';
  return z
    .array(z.string({ error }).regex(folder, { error }).max(250, { error }), { error })
    .max(50, { error })
    .refine((all) => all.every((one, at) => all.every((other, place) => place === at || !within(one, other))), { error })
    .meta({ ...told });
};

export const texts = (wanted: string, told: Told) =>
  z
    .array(z.string({ error: wanted }), { error: wanted })
    .max(200, { error: wanted })
    .meta({ ...told });

/** A map of exactly these keys; all are optional unless the shape says otherwise. */
export const keys = <Shape extends z.ZodRawShape>(shape: Shape, wanted: string, told: Told) =>
  z.strictObject(shape, { error: wanted }).meta({ ...told });
