// Signals as they are stored, by the owner or by any other process: first in first out per run and name.
import type { SQLInputValue } from 'node:sqlite';
import { epochMs } from '../core/ids.ts';
import type { Queries, Transaction } from './append.ts';
import { decodeJson } from './json.ts';
import type { SignalReceipt, SignalRow } from './port.ts';
import { numberAt, type Row, textAt, textOrNone } from './rows.ts';

export interface StoredSignal {
  /** '' is the engine itself. */
  readonly run: string;
  readonly name: string;
  /** JSON text. */
  readonly payload: string | undefined;
  readonly dedupeKey: string | undefined;
  readonly by: string;
  readonly at: number;
}

/** Stores a signal, unless its run is unknown or has ended, or its dedupe key is known. The work of one transaction. */
export const storeSignal = (
  base: Pick<Queries, 'get'> & { run(sql: string, ...values: readonly SQLInputValue[]): void },
  signal: StoredSignal,
): SignalReceipt => {
  const { run, name, dedupeKey } = signal;
  const isTaken = run === '' || base.get('SELECT 1 FROM runs WHERE id = ? AND ended_at IS NULL', run) !== undefined;
  if (!isTaken) return { accepted: false, duplicate: false };
  const known =
    dedupeKey !== undefined &&
    base.get('SELECT 1 FROM signals WHERE run = ? AND name = ? AND dedupe = ?', run, name, dedupeKey) !== undefined;
  if (known) return { accepted: true, duplicate: true };
  base.run(
    'INSERT INTO signals (run, name, payload, dedupe, by, at) VALUES (?, ?, ?, ?, ?, ?)',
    run,
    name,
    signal.payload ?? null,
    dedupeKey ?? null,
    signal.by,
    signal.at,
  );
  return { accepted: true, duplicate: false };
};

const signalOfRow = (row: Row): SignalRow => ({
  seq: numberAt(row, 'seq'),
  name: textAt(row, 'name'),
  payload: decodeJson(textOrNone(row, 'payload')),
  by: textAt(row, 'by'),
  at: epochMs(numberAt(row, 'at')),
  takenBy: textOrNone(row, 'taken_by_key'),
});

export const listSignals = (queries: Pick<Queries, 'all'>, run: string): readonly SignalRow[] =>
  queries.all('SELECT * FROM signals WHERE run = ? ORDER BY seq', run).map((row) => signalOfRow(row));

/** The oldest signal of that name that no wait has taken. */
export const oldestSignal = (
  queries: Pick<Queries, 'get'>,
  wanted: { readonly run: string; readonly name: string },
): SignalRow | undefined => {
  const sql = 'SELECT * FROM signals WHERE run = ? AND name = ? AND taken_by_key IS NULL ORDER BY seq LIMIT 1';
  const row = queries.get(sql, wanted.run, wanted.name);
  return row === undefined ? undefined : signalOfRow(row);
};

/** @returns false when another wait took it first */
export const takeSignal = (transaction: Transaction, seq: number, key: string): boolean => {
  if (transaction.get('SELECT 1 FROM signals WHERE seq = ? AND taken_by_key IS NULL', seq) === undefined) return false;
  transaction.run('UPDATE signals SET taken_by_key = ? WHERE seq = ?', key, seq);
  return true;
};

/** Runs that wait for a signal which is there. */
export const runsWithSignals = (queries: Pick<Queries, 'all'>): readonly string[] =>
  queries
    .all(
      `SELECT DISTINCT waits.run AS run FROM waits JOIN signals
         ON signals.run = waits.run AND signals.name = waits.name AND signals.taken_by_key IS NULL WHERE waits.kind = 'signal'`,
    )
    .map((row) => textAt(row, 'run'));
