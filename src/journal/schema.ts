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

// Runs and steps are built anew, because SQLite cannot change a CHECK; what they hold is taken over.
const second = `
CREATE TABLE runs_new (
  id               TEXT PRIMARY KEY,
  loop             TEXT NOT NULL,
  version          INTEGER NOT NULL,
  state            TEXT NOT NULL CHECK (state IN ('pending', 'running', 'paused', 'needs-attention', 'done', 'failed', 'cancelled')),
  generation       INTEGER NOT NULL,
  dedupe_key       TEXT NOT NULL,
  input            TEXT,
  view             TEXT NOT NULL,
  output           TEXT,
  error            TEXT,
  started_at       INTEGER NOT NULL,
  ended_at         INTEGER,
  parent           TEXT,
  parent_key       TEXT,
  detached         INTEGER NOT NULL DEFAULT 0,
  on_parent_cancel TEXT NOT NULL DEFAULT 'cancel' CHECK (on_parent_cancel IN ('cancel', 'leave')),
  priority         INTEGER NOT NULL DEFAULT 0,
  labels           TEXT NOT NULL DEFAULT '{}',
  deadline_at      INTEGER,
  budget           TEXT NOT NULL DEFAULT '{}',
  spent            TEXT NOT NULL DEFAULT '{}',
  reserved         TEXT NOT NULL DEFAULT '{}',
  on_limit         TEXT NOT NULL DEFAULT 'park' CHECK (on_limit IN ('park', 'fail')),
  attention        TEXT,
  history_from     INTEGER NOT NULL DEFAULT 1,
  purged_at        INTEGER
) STRICT;
INSERT INTO runs_new (id, loop, version, state, generation, dedupe_key, input, view, output, error, started_at, ended_at)
  SELECT id, loop, version, state, generation, dedupe_key, input, view, output, error, started_at, ended_at FROM runs;

CREATE TABLE steps_new (
  run         TEXT NOT NULL REFERENCES runs (id),
  key         TEXT NOT NULL,
  kind        TEXT NOT NULL,
  state       TEXT NOT NULL CHECK (state IN ('intended', 'done', 'failed', 'dropped')),
  generation  INTEGER NOT NULL,
  performed   INTEGER NOT NULL,
  plan        TEXT,
  outcome     TEXT,
  error       TEXT,
  ord         INTEGER NOT NULL,
  details     TEXT,
  next_try_at INTEGER,
  PRIMARY KEY (run, key)
) STRICT;
INSERT INTO steps_new (run, key, kind, state, generation, performed, plan, outcome, error, ord)
  SELECT run, key, kind, state, generation, performed, plan, outcome, error, row_number() OVER (PARTITION BY run ORDER BY rowid) FROM steps;

DROP TABLE steps;
DROP TABLE runs;
ALTER TABLE runs_new RENAME TO runs;
ALTER TABLE steps_new RENAME TO steps;
CREATE UNIQUE INDEX open_runs_by_dedupe_key ON runs (dedupe_key) WHERE ended_at IS NULL;
CREATE INDEX runs_by_state ON runs (state);
CREATE INDEX runs_by_dedupe_key ON runs (dedupe_key);
CREATE INDEX runs_by_loop ON runs (loop, started_at, id);
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE INDEX runs_by_deadline ON runs (deadline_at) WHERE deadline_at IS NOT NULL AND ended_at IS NULL;
CREATE INDEX steps_in_order ON steps (run, ord);

ALTER TABLE cancels ADD COLUMN children TEXT NOT NULL DEFAULT 'cancel';

CREATE TABLE signals (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  run          TEXT NOT NULL,
  name         TEXT NOT NULL,
  payload      TEXT,
  dedupe       TEXT,
  by           TEXT NOT NULL,
  at           INTEGER NOT NULL,
  taken_by_key TEXT,
  UNIQUE (run, name, dedupe)
) STRICT;
CREATE INDEX signals_in_order ON signals (run, name, seq) WHERE taken_by_key IS NULL;

CREATE TABLE waits (
  run      TEXT NOT NULL REFERENCES runs (id),
  key      TEXT NOT NULL,
  kind     TEXT NOT NULL CHECK (kind IN ('timer', 'signal')),
  name     TEXT,
  until    INTEGER,
  describe TEXT,
  PRIMARY KEY (run, key)
) STRICT;

CREATE TABLE registers (
  register   TEXT NOT NULL,
  key        TEXT NOT NULL,
  value      TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (register, key)
) STRICT;
CREATE INDEX registers_by_change ON registers (register, changed_at);

CREATE TABLE streams (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  run    TEXT NOT NULL,
  stream TEXT NOT NULL,
  at     INTEGER NOT NULL,
  event  TEXT NOT NULL
) STRICT;
CREATE INDEX streams_in_order ON streams (run, stream, seq);

CREATE TABLE state_requests (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  run    TEXT NOT NULL,
  want   TEXT NOT NULL CHECK (want IN ('pause', 'resume')),
  reason TEXT NOT NULL,
  at     INTEGER NOT NULL
) STRICT;
`;

/** Entry n brings schema n to n + 1. Entries are only ever added, so that any release opens any older journal. */
const migrations: readonly string[] = [first, second];

export const newestSchema = migrations.length;

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

/** Brings an open database to the newest schema, one transaction for each step, so that a crash leaves a whole older schema. */
export const migrate = (db: DatabaseSync, version: number): void => {
  if (version === migrations.length) return;
  // Off while tables that others refer to are built anew; SQLite ignores the switch inside a transaction.
  db.exec('PRAGMA foreign_keys = OFF');
  try {
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue;
      db.exec('BEGIN IMMEDIATE');
      // Another process may have done it between the look at the schema and the lock.
      if (schemaVersion(db) === index) db.exec(`${migration}; UPDATE meta SET value = '${index + 1}' WHERE key = 'schema'`);
      db.exec('COMMIT');
    }
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
    db.exec('PRAGMA foreign_keys = ON');
  }
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
    migrate(db, version);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};
