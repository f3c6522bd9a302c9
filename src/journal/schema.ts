// The tables of journal.sqlite (docs/formats/journal.md). `facts` is the truth; runs, steps, owner and cancels are what the engine
// needs at hand, changed in the same transaction as the fact that says so.
import { statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '../core/fault.ts';
import { genesisHash } from './chain.ts';

export const journalFile = (stateHome: string): string => path.join(stateHome, 'journal.sqlite');

const first = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO meta VALUES ('format', 'gyre.journal/1'), ('schema', '0'), ('head', '0:${genesisHash}');

CREATE TABLE facts (
  seq  INTEGER PRIMARY KEY,
  at   INTEGER NOT NULL,
  kind TEXT NOT NULL,
  run  TEXT NOT NULL,
  data TEXT NOT NULL,
  prev TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;
CREATE INDEX facts_of_run ON facts (run);
CREATE TRIGGER facts_never_change BEFORE UPDATE ON facts BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER facts_never_go BEFORE DELETE ON facts BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER facts_in_order BEFORE INSERT ON facts
  WHEN NEW.seq <> (SELECT ifnull(max(seq), 0) + 1 FROM facts)
  BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;

CREATE TABLE runs (
  id         TEXT PRIMARY KEY,
  loop       TEXT NOT NULL,
  version    INTEGER NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'failed', 'cancelled')),
  generation INTEGER NOT NULL,
  dedupe_key TEXT NOT NULL,
  input      TEXT,
  view       TEXT NOT NULL,
  output     TEXT,
  error      TEXT,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER
) STRICT;
CREATE UNIQUE INDEX open_runs_by_dedupe_key ON runs (dedupe_key) WHERE state IN ('pending', 'running');
CREATE INDEX runs_by_state ON runs (state);

CREATE TABLE steps (
  run        TEXT NOT NULL REFERENCES runs (id),
  key        TEXT NOT NULL,
  kind       TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('intended', 'done', 'failed')),
  generation INTEGER NOT NULL,
  performed  INTEGER NOT NULL,
  plan       TEXT,
  outcome    TEXT,
  error      TEXT,
  PRIMARY KEY (run, key)
) STRICT;

CREATE TABLE owner (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  pid        INTEGER NOT NULL,
  start_time TEXT NOT NULL,
  boot_id    TEXT NOT NULL,
  epoch      INTEGER NOT NULL,
  taken_at   INTEGER NOT NULL,
  released   INTEGER NOT NULL
) STRICT;

CREATE TABLE cancels (
  run        TEXT NOT NULL,
  generation INTEGER NOT NULL,
  reason     TEXT NOT NULL,
  noted      INTEGER NOT NULL,
  PRIMARY KEY (run, generation)
) STRICT;
`;

/** Entry n brings schema n to n + 1. Entries are only ever added, so that any release opens any older journal. */
const migrations: readonly string[] = [first];

/** @returns 0 when the file holds no journal yet */
export const schemaVersion = (db: DatabaseSync): number => {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() === undefined) return 0;
  return Number(db.prepare("SELECT value FROM meta WHERE key = 'schema'").get()?.['value'] ?? 0);
};

/** @throws Fault JOURNAL_TOO_NEW */
export const assertKnownSchema = (version: number, file: string): void => {
  if (version <= migrations.length) return;
  throw new Fault('JOURNAL_TOO_NEW', `The journal ${file} has schema ${version}; this Gyre knows schemas up to ${migrations.length}.`, {
    hint: 'Use the Gyre release that wrote it, or a newer one.',
    data: { file, version, known: migrations.length },
  });
};

/** How long a single statement waits for a lock before SQLite says so. */
export const busyMs = 5_000;

const bytesOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** SQLite would take a journal cut to nothing for a new one and throw away the log beside it. @throws Fault JOURNAL_CORRUPT */
export const assertNotCutOff = (file: string): void => {
  if (bytesOf(file) > 0 || bytesOf(`${file}-wal`) === 0) return;
  throw new Fault('JOURNAL_CORRUPT', `The journal ${file} is empty although its log ${file}-wal is not.`, {
    hint: 'Move both files aside (keep them) and start again, or put back a copy.',
    data: { file },
  });
};

/**
 * Opens the journal for writing and brings its schema up to date.
 * @throws Fault JOURNAL_TOO_NEW, JOURNAL_CORRUPT, or what SQLite says (see `storageFault`)
 */
export const openDatabase = (file: string): DatabaseSync => {
  assertNotCutOff(file);
  const db = new DatabaseSync(file);
  try {
    db.exec(`PRAGMA busy_timeout = ${busyMs}`);
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    const version = schemaVersion(db);
    assertKnownSchema(version, file);
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue;
      db.exec(`BEGIN IMMEDIATE; ${migration}; UPDATE meta SET value = '${index + 1}' WHERE key = 'schema'; COMMIT`);
    }
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};
