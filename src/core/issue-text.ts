import type { Issue, Origin } from './fault.ts';
import { oneLine } from './text.ts';

/** `file`, `file:line` or `file:line:column`. */
export const originText = (origin: Origin): string =>
  [origin.file, origin.line, origin.column].filter((part) => part !== undefined).join(':');

/** One issue on one line: `file:line:col key: found X, wanted Y (did you mean Z?)`. */
export const issueText = (issue: Issue): string => {
  const key = issue.key === '' ? '' : ` ${oneLine(issue.key, 100)}`;
  const hint = issue.nearest === undefined ? '' : ` (did you mean ${issue.nearest}?)`;
  return `${originText(issue.origin)}${key}: found ${issue.found}, wanted ${issue.wanted}${hint}`;
};

/** A value as it is named in a message: short, on one line. */
export const foundText = (value: unknown): string => {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object') {
    const names = Object.keys(value);
    return names.length === 0
      ? 'an empty map'
      : oneLine(`a map with ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', ...' : ''}`, 80);
  }
  return typeof value === 'string' ? oneLine(JSON.stringify(value), 80) : `${value as number}`;
};
