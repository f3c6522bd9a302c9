import type { Script, ScriptEntry } from './script-format.ts';

/** What an entry's `when` is held against. */
export interface ScriptOccasion {
  readonly task: string;
  readonly title: string;
  readonly attempt: number;
  readonly prompt: string;
}

/** Whether a text fits a pattern in which `*` stands for any letters, also none. */
export const fits = (text: string, pattern: string): boolean => {
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  // Between the ends each part is looked for at its earliest place, which leaves most room for the rest.
  let at = first.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
};

const fitsAttempt = (attempt: number, wanted: number | string): boolean =>
  typeof wanted === 'number' ? attempt === wanted : attempt >= Number.parseInt(wanted, 10);

/** The first entry whose every condition holds. */
export const pickEntry = (script: Script, occasion: ScriptOccasion): ScriptEntry | undefined =>
  script.entries.find(
    ({ when }) =>
      (when.task === undefined || fits(occasion.task, when.task)) &&
      (when.title === undefined || fits(occasion.title, when.title)) &&
      (when.attempt === undefined || fitsAttempt(occasion.attempt, when.attempt)) &&
      (when.prompt === undefined || occasion.prompt.includes(when.prompt)),
  );
