import type { SQLInputValue } from 'node:sqlite';
import type { RunFilter } from './port.ts';

/** The part of a query behind FROM, and its values. */
export const runQuery = (filter: RunFilter): { readonly sql: string; readonly values: readonly SQLInputValue[] } => {
  const { states, dedupeKey, loop, endedSince, limit, newestFirst = false } = filter;
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  const where = (condition: string, ...taken: readonly SQLInputValue[]): void => {
    conditions.push(condition);
    values.push(...taken);
  };
  if (states !== undefined) where(`state IN (${states.map(() => '?').join(', ')})`, ...states);
  if (dedupeKey !== undefined) where('dedupe_key = ?', dedupeKey);
  if (loop !== undefined) where('loop = ?', loop);
  if (endedSince !== undefined) where('ended_at >= ?', endedSince);
  const direction = newestFirst ? 'DESC' : 'ASC';
  const order = endedSince === undefined ? `started_at ${direction}, id ${direction}` : `ended_at ${direction}, id ${direction}`;
  if (limit !== undefined) values.push(limit);
  return {
    sql: `${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')} `}ORDER BY ${order}${limit === undefined ? '' : ' LIMIT ?'}`,
    values,
  };
};
