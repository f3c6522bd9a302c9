// Pauses and resumes that another process asked for: rows that the owner obeys, in order, and removes.
import type { Queries, Transaction } from './append.ts';
import { pauseRun, releaseRun } from './park-records.ts';
import { textAt } from './rows.ts';
import { runId } from '../core/ids.ts';

export const hasStateRequests = (queries: Pick<Queries, 'get'>): boolean =>
  queries.get('SELECT 1 FROM state_requests LIMIT 1') !== undefined;

/** @returns the runs that are paused now */
export const applyStateRequests = (transaction: Transaction): readonly string[] => {
  const paused = new Set<string>();
  for (const row of transaction.all('SELECT run, want, reason FROM state_requests ORDER BY seq')) {
    const id = runId(textAt(row, 'run'));
    const why = textAt(row, 'reason');
    if (textAt(row, 'want') === 'pause') {
      if (pauseRun(transaction, { id }, why)) paused.add(id);
    } else if (releaseRun(transaction, { id }, { why })) paused.delete(id);
  }
  transaction.run('DELETE FROM state_requests');
  return [...paused];
};
