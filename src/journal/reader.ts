import { existsSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { readHead } from './append.ts';
import { type Blobs, createBlobs } from './blobs.ts';
import { type ChainLink, factLine, verifyChain } from './chain.ts';
import { readOwner } from './owner.ts';
import { resolvePayload, resolveRun } from './payload.ts';
import type { Fact, JournalReader } from './port.ts';
import { isAlive } from '../process/index.ts';
import { journalHealth } from './health.ts';
import { findRegisterEntry, listRegister } from './registers.ts';
import { factOfRow, firstRunColumns, linkOfRow, type Row, runColumns, runOfRow } from './rows.ts';
import { listSignals } from './signal-records.ts';
import { runQuery } from './run-filter.ts';
import { assertKnownSchema, assertNotCutOff, busyMs, journalFile, schemaVersion } from './schema.ts';
import { storageFault } from './storage-error.ts';
import { readStream } from './streams.ts';

/** Most facts of one answer; ask again with `afterSeq` for more. */
const factsMax = 10_000;
const pageFacts = 1_000;

type FactFilter = NonNullable<Parameters<JournalReader['facts']>[0]>;

/** Reads a journal of any schema this release knows, without changing it. */
export const createReader = (db: DatabaseSync, file: string, blobs: Blobs): JournalReader => {
  const isFirstSchema = schemaVersion(db) === 1;
  const columns = isFirstSchema ? firstRunColumns : runColumns;
  // There are as many texts as forms of filters, which is a few dozen.
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const all = (sql: string, values: readonly SQLInputValue[]): readonly Row[] => prepared(sql).all(...values);
  const queries = {
    get: (sql: string, ...values: readonly SQLInputValue[]) => prepared(sql).get(...values),
    all: (sql: string, ...values: readonly SQLInputValue[]) => all(sql, values),
  };
  /** Every call goes through here, so that a damaged file gives one clear fault. */
  const reading = <T>(body: () => T): T => {
    try {
      return body();
    } catch (error) {
      throw storageFault(error, file);
    }
  };
  const factRows = ({ run, afterSeq = 0, limit = factsMax }: FactFilter): readonly Row[] =>
    run === undefined
      ? all('SELECT * FROM facts WHERE seq > ? ORDER BY seq LIMIT ?', [afterSeq, Math.min(limit, factsMax)])
      : all('SELECT * FROM facts WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?', [run, afterSeq, Math.min(limit, factsMax)]);

  // Page by page: memory stays bounded, and no statement is left open when the taker stops early.
  function* links(): Generator<ChainLink & { readonly hash: string }> {
    let page = factRows({ limit: pageFacts });
    while (page.length > 0) {
      const found = page.map((row) => linkOfRow(row));
      yield* found;
      page = factRows({ afterSeq: found.at(-1)?.seq ?? 0, limit: pageFacts });
    }
  }

  function* exportLines(): Generator<string> {
    try {
      for (const link of links()) yield factLine(link, link.hash);
    } catch (error) {
      throw storageFault(error, file);
    }
  }

  return {
    runs: (filter = {}) =>
      reading(() => {
        const { sql, values } = runQuery(filter);
        return all(`SELECT ${columns} FROM runs ${sql}`, values).map((row) => resolveRun(blobs, runOfRow(row)));
      }),
    run: (id) =>
      reading(() => {
        const row = queries.get(`SELECT ${columns} FROM runs WHERE id = ?`, id);
        return row === undefined ? undefined : resolveRun(blobs, runOfRow(row));
      }),
    facts: (filter = {}) => reading(() => factRows(filter).map((row): Fact => factOfRow(row))),
    owner: () =>
      reading(() => {
        const owner = readOwner(queries);
        return owner === undefined ? undefined : { identity: owner.identity, epoch: owner.epoch, alive: isAlive(owner.identity) };
      }),
    verify: () =>
      reading(() => {
        // One view of the file for the facts and the end of their chain, while an engine goes on writing.
        db.exec('BEGIN');
        try {
          return verifyChain(links(), readHead(queries));
        } finally {
          if (db.isTransaction) db.exec('COMMIT');
        }
      }),
    exportLines: () => exportLines(),
    registerEntry: (register, key) => reading(() => (isFirstSchema ? undefined : findRegisterEntry(queries, register, key))),
    register: (register, filter) => reading(() => (isFirstSchema ? [] : listRegister(queries, register, filter))),
    stream: (run, stream, afterSeq = 0) => reading(() => (isFirstSchema ? [] : readStream(queries, { run, stream, afterSeq }))),
    signals: (run) =>
      reading(() =>
        isFirstSchema ? [] : listSignals(queries, run).map((signal) => ({ ...signal, payload: resolvePayload(blobs, signal.payload) })),
      ),
    health: () => reading(() => journalHealth(queries)),
    [Symbol.dispose]: () => {
      if (db.isOpen) db.close();
    },
  };
};

/**
 * Opens the journal of a state home for reading; works beside a running engine.
 * @returns undefined when there is no journal yet
 * @throws Fault JOURNAL_TOO_NEW, JOURNAL_CORRUPT, STORAGE_FAILED, STORAGE_LOCKED
 */
export const openReader = (stateHome: string): JournalReader | undefined => {
  const file = journalFile(stateHome);
  if (!existsSync(file)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    assertNotCutOff(file);
    db = new DatabaseSync(file, { readOnly: true });
    db.exec(`PRAGMA busy_timeout = ${busyMs}`);
    const version = schemaVersion(db);
    assertKnownSchema(version, file);
    if (version > 0) return createReader(db, file, createBlobs(stateHome));
    db.close();
    return undefined;
  } catch (error) {
    db?.close();
    throw storageFault(error, file);
  }
};
