// Purging takes away what ended runs need no more: their steps, streams, signals and blobs. Facts stay, and so does the row of the run.
import type { EpochMs } from '../core/ids.ts';
import type { Transaction } from './append.ts';
import { type Blobs, isBlobReference } from './blobs.ts';
import { canonicalJson } from './chain.ts';
import { decodeJson } from './json.ts';
import type { RunState } from './port.ts';
import { numberAt, textAt } from './rows.ts';
import type { Store } from './store.ts';

/** Runs of one transaction, so that the writes of running steps get their turn. */
const batchMax = 50;
/** A blob that was written a moment ago may belong to a row that is about to be written. */
const blobAgeMinMs = 3_600_000;

interface PurgeOptions {
  readonly before: EpochMs;
  readonly keep: readonly RunState[];
}

const bytesIn = (transaction: Transaction, sql: string, run: string): number => {
  const row = transaction.get(sql, run);
  return row === undefined ? 0 : numberAt(row, 'bytes');
};

/** The bytes of text that go with a run; what SQLite needs to keep them is not counted. */
const purgeRun = (transaction: Transaction, run: string): number => {
  const texts = ['key', 'plan', 'outcome', 'error', 'details'].map((column) => `ifnull(octet_length(${column}), 0)`).join(' + ');
  const bytes =
    bytesIn(transaction, `SELECT ifnull(sum(${texts}), 0) AS bytes FROM steps WHERE run = ?`, run) +
    bytesIn(transaction, 'SELECT ifnull(sum(octet_length(event)), 0) AS bytes FROM streams WHERE run = ?', run) +
    bytesIn(transaction, 'SELECT ifnull(sum(octet_length(payload)), 0) AS bytes FROM signals WHERE run = ?', run);
  for (const table of ['steps', 'streams', 'signals', 'waits', 'state_requests']) {
    transaction.run(`DELETE FROM ${table} WHERE run = ?`, run);
  }
  // An input or output that lies in a blob goes with it; a small one stays in the row.
  for (const column of ['input', 'output']) {
    transaction.run(`UPDATE runs SET ${column} = NULL WHERE id = ? AND ${column} GLOB '{"$blob":*'`, run);
  }
  transaction.run('UPDATE runs SET purged_at = ? WHERE id = ?', transaction.now, run);
  transaction.fact({ kind: 'run.purged', run, data: canonicalJson({ bytes }) });
  return bytes;
};

/** One batch. A run whose parent is open stays: the parent may still ask for its result. */
const purgeRuns = (transaction: Transaction, { before, keep }: PurgeOptions): { readonly runs: number; readonly bytes: number } => {
  const kept = keep.map(() => '?').join(', ');
  const found = transaction.all(
    `SELECT id FROM runs WHERE ended_at < ? AND purged_at IS NULL AND state NOT IN (${kept})
       AND NOT EXISTS (SELECT 1 FROM runs AS parents WHERE parents.id = runs.parent AND parents.ended_at IS NULL)
     ORDER BY ended_at LIMIT ?`,
    before,
    ...keep,
    batchMax,
  );
  let bytes = 0;
  for (const row of found) bytes += purgeRun(transaction, textAt(row, 'id'));
  return { runs: found.length, bytes };
};

const purgeLeftovers = (transaction: Transaction, before: EpochMs): void => {
  transaction.run("DELETE FROM registers WHERE value = '' AND changed_at < ?", before);
  transaction.run("DELETE FROM signals WHERE run = '' AND taken_by_key IS NOT NULL AND at < ?", before);
};

const blobsInUse = (queries: Pick<Store, 'all'>): ReadonlySet<string> => {
  const places = [
    ['runs', 'input'],
    ['runs', 'output'],
    ['steps', 'outcome'],
    ['signals', 'payload'],
  ] as const;
  const rows = places.flatMap(([table, column]) => queries.all(`SELECT ${column} AS text FROM ${table} WHERE ${column} GLOB '{"$blob":*'`));
  const values = rows.map((row) => decodeJson(textAt(row, 'text')));
  return new Set(values.flatMap((value) => (isBlobReference(value) ? [value.$blob] : [])));
};

/** Removes blobs that no row names, and what broken-off writings left. @returns the bytes of the files */
const purgeBlobs = (queries: Pick<Store, 'all'>, blobs: Blobs, before: number): number => {
  const old = blobs.list().filter((file) => file.usedAt < before);
  // The search for names reads all rows: it is not worth it when there is nothing to find.
  if (old.length === 0) return 0;
  const used = blobsInUse(queries);
  const unused = old.filter(({ digest }) => digest === undefined || !used.has(digest));
  for (const file of unused) blobs.remove(file);
  return unused.reduce((sum, file) => sum + file.bytes, 0);
};

/** See `Engine.purge`. @param now time of the engine; blobs younger than an hour stay */
export const purge = async (
  store: Store,
  options: PurgeOptions & { readonly now: EpochMs },
): Promise<{ readonly runs: number; readonly bytes: number }> => {
  const total = { runs: 0, bytes: 0 };
  for (;;) {
    const batch = await store.write((transaction) => purgeRuns(transaction, options));
    total.runs += batch.runs;
    total.bytes += batch.bytes;
    if (batch.runs < batchMax) break;
  }
  await store.write((transaction) => purgeLeftovers(transaction, options.before));
  total.bytes += purgeBlobs(store, store.blobs, Math.min(options.before, options.now - blobAgeMinMs));
  return total;
};
