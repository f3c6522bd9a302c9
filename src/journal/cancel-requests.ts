// A cancel is a durable request that any process may write: a row in `cancels`, for one generation of one run. The owner sees it, notes
// it as a fact, and aborts the run's signal; the row goes when the run has ended, so that it never reaches a later generation.
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { RunId } from '../core/ids.ts';
import type { Queries, Transaction } from './append.ts';
import { canonicalJson } from './chain.ts';
import { attachedChildren } from './attached-children.ts';
import type { RequestCancel } from './port.ts';
import { numberAt, textAt } from './rows.ts';
import { assertKnownSchema, busyMs, journalFile, schemaVersion } from './schema.ts';
import { storageFault } from './storage-error.ts';
import { touchWake } from './wake.ts';

const reasonLettersMax = 1_000;
const cutReason = (reason: string): string => reason.slice(0, reasonLettersMax).toWellFormed();

const askDatabase = (db: DatabaseSync, request: { readonly file: string; readonly run: RunId; readonly reason: string }): boolean => {
  db.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA synchronous = FULL`);
  const version = schemaVersion(db);
  if (version === 0) return false;
  assertKnownSchema(version, request.file);
  // One statement is one transaction: the run is still open when the row is written.
  const asked = db
    .prepare(
      `INSERT INTO cancels (run, generation, reason, noted)
       SELECT id, generation, ?, 0 FROM runs WHERE id = ? AND ended_at IS NULL
       ON CONFLICT DO UPDATE SET reason = reason`,
    )
    .run(cutReason(request.reason), request.run);
  return Number(asked.changes) > 0;
};

/** See `RequestCancel`. @throws Fault when the journal cannot be written within 5 s */
export const requestCancel: RequestCancel = (stateHome, run, reason) => {
  const file = journalFile(stateHome);
  if (!existsSync(file)) return false;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file);
    const isAsked = askDatabase(db, { file, run, reason });
    if (isAsked) touchWake(stateHome);
    return isAsked;
  } catch (error) {
    throw storageFault(error, file);
  } finally {
    db?.close();
  }
};

interface CancelRequest {
  readonly run: string;
  readonly generation: number;
  readonly reason: string;
  /** Whether the children that end with their parent are cancelled too; default `cancel`. */
  readonly children?: 'cancel' | 'leave';
}

/** Requests that the owner has not acted on yet, or (after a crash) has not finished acting on. */
export const pendingCancels = (queries: Pick<Queries, 'all'>): readonly (CancelRequest & { readonly noted: boolean })[] =>
  queries.all('SELECT run, generation, reason, children, noted FROM cancels').map((row) => ({
    run: textAt(row, 'run'),
    generation: numberAt(row, 'generation'),
    reason: textAt(row, 'reason'),
    children: textAt(row, 'children') === 'leave' ? 'leave' : 'cancel',
    noted: numberAt(row, 'noted') === 1,
  }));

/** The request for one generation of one run, acted on or not. */
export const pendingCancel = (
  queries: Pick<Queries, 'get'>,
  run: { readonly id: string; readonly generation: number },
): { readonly reason: string } | undefined => {
  const row = queries.get('SELECT reason FROM cancels WHERE run = ? AND generation = ?', run.id, run.generation);
  return row === undefined ? undefined : { reason: textAt(row, 'reason') };
};

/**
 * Notes a request as a fact, once a generation, and for the children in the same transaction; a run that has ended meanwhile is left
 * alone. A run that waits for a person or has not begun becomes pending, so that an execution can bring it to its end.
 */
export const noteCancel = (transaction: Transaction, request: CancelRequest): void => {
  const { run, generation, children = 'cancel' } = request;
  const row = transaction.get('SELECT state FROM runs WHERE id = ? AND generation = ? AND ended_at IS NULL', run, generation);
  if (row === undefined) return;
  const reason = cutReason(request.reason);
  const known = transaction.get('SELECT noted FROM cancels WHERE run = ? AND generation = ?', run, generation);
  if (known !== undefined && numberAt(known, 'noted') === 1) return;
  transaction.run(
    'INSERT INTO cancels (run, generation, reason, noted, children) VALUES (?, ?, ?, 1, ?) ON CONFLICT DO UPDATE SET noted = 1',
    run,
    generation,
    reason,
    children,
  );
  transaction.run("UPDATE runs SET state = 'pending', attention = NULL WHERE id = ? AND state IN ('paused', 'needs-attention')", run);
  transaction.fact({ kind: 'run.cancel-requested', run, data: canonicalJson({ generation, reason }) });
  if (children === 'leave') return;
  for (const child of attachedChildren(transaction, run)) noteCancel(transaction, { run: child.id, generation: child.generation, reason });
};

export const forgetCancels = (transaction: Transaction, run: string): void => transaction.run('DELETE FROM cancels WHERE run = ?', run);
