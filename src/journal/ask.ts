// How a process that does not own a state home writes to its journal: open, one transaction, close.
import { existsSync, mkdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '../core/fault.ts';
import { type EpochMs, epochMs } from '../core/ids.ts';
import type { Queries, Transaction } from './append.ts';
import { lockFile, tryLock } from './owner.ts';
import { assertKnownSchema, assertNotCutOff, busyMs, journalFile, newestSchema, openDatabase, schemaVersion } from './schema.ts';
import { touchWake } from './wake.ts';
import { storageFault, storageTrouble } from './storage-error.ts';

/** What a request may do: rows, and no facts, which are the owner's. */
export type Request = Queries & Pick<Transaction, 'run'> & { readonly now: EpochMs };

/** How long an engine that is just starting is given to make the journal. */
const startingMs = 2_000;
const startingStepMs = 50;

/** Blocks this process, as everything of a request does. */
const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const openKnown = (file: string): DatabaseSync | undefined => {
  assertNotCutOff(file);
  const db = new DatabaseSync(file);
  try {
    db.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON`);
    const version = schemaVersion(db);
    assertKnownSchema(version, file);
    if (version === newestSchema) return db;
  } catch (error) {
    db.close();
    throw error;
  }
  db.close();
  return undefined;
};

/** Makes the journal, or brings an older one up to date, as an engine would: only while no engine owns it. */
const openUpdated = (stateHome: string, file: string): DatabaseSync => {
  for (let waitedMs = 0; waitedMs < startingMs; waitedMs += startingStepMs) {
    const lock = tryLock(lockFile(stateHome));
    if (lock === undefined) {
      // An engine that is just starting does it itself.
      block(startingStepMs);
      const db = openKnown(file);
      if (db !== undefined) return db;
      continue;
    }
    try {
      return openDatabase(file);
    } finally {
      lock.close();
    }
  }
  throw new Fault('JOURNAL_OLD', `The journal ${file} is in use by an older Gyre, which does not know this request.`, {
    hint: 'Stop the older Gyre, start this one, and try again.',
    data: { file },
  });
};

/**
 * Takes the write lock. SQLite's own waiting looks ten times a second in the end, and would starve beside an engine that writes without
 * a break; a look a millisecond meets a gap between two of its commits.
 */
const begin = (db: DatabaseSync): void => {
  db.exec('PRAGMA busy_timeout = 0');
  for (const until = performance.now() + busyMs; ;) {
    try {
      db.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      if (storageTrouble(error) !== 'locked' || performance.now() >= until) throw error;
    }
    block(1);
  }
};

const inTransaction = <T>(db: DatabaseSync, work: (request: Request) => T): T => {
  const request: Request = {
    // A request has no clock of an engine: it stands for a person or a program at this machine now.
    now: epochMs(Date.now()),
    get: (sql, ...values) => db.prepare(sql).get(...values),
    all: (sql, ...values) => db.prepare(sql).all(...values),
    run: (sql, ...values) => void db.prepare(sql).run(...values),
  };
  begin(db);
  try {
    const result = work(request);
    db.exec('COMMIT');
    return result;
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
  }
};

/**
 * Runs one request and returns when its rows are on disk.
 * @param options `make`: make the journal when there is none; otherwise nothing is asked and `undefined` comes back
 * @throws Fault when the journal cannot be written within 5 s, JOURNAL_TOO_NEW, JOURNAL_OLD
 */
export const ask = <T>(stateHome: string, options: { readonly make: boolean }, work: (request: Request) => T): T | undefined => {
  const file = journalFile(stateHome);
  if (!options.make && !existsSync(file)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    if (options.make) mkdirSync(stateHome, { recursive: true, mode: 0o700 });
    db = (existsSync(file) ? openKnown(file) : undefined) ?? openUpdated(stateHome, file);
    const answer = inTransaction(db, work);
    touchWake(stateHome);
    return answer;
  } catch (error) {
    throw storageFault(error, file);
  } finally {
    db?.close();
  }
};
