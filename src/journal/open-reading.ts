// How a journal is opened for reading, also on a disk where nothing can be written. SQLite's WAL mode wants to make a file beside the
// database even for reading; where it cannot, a database without a log is read as one that nobody changes, and one with a log from a copy.
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { assertNotCutOff, busyMs, schemaVersion } from './schema.ts';
import { storageTrouble } from './storage-error.ts';

export interface ReadableDatabase {
  readonly db: DatabaseSync;
  /** 0 when the file holds no journal yet. */
  readonly version: number;
  close(): void;
}

/** @param removed a folder that goes when the database is closed */
const readable = (open: () => DatabaseSync, removed?: string): ReadableDatabase => {
  let db: DatabaseSync | undefined;
  const close = (): void => {
    if (db?.isOpen === true) db.close();
    if (removed !== undefined) rmSync(removed, { recursive: true, force: true });
  };
  try {
    db = open();
    db.exec(`PRAGMA busy_timeout = ${busyMs}`);
    return { db, version: schemaVersion(db), close };
  } catch (error) {
    close();
    throw error;
  }
};

const openCopy = (file: string): ReadableDatabase => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gyre-read-'));
  const copy = path.join(folder, path.basename(file));
  return readable(() => {
    for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${copy}${end}`);
    return new DatabaseSync(copy);
  }, folder);
};

/** @throws Fault JOURNAL_CORRUPT for a file cut to nothing, or what SQLite says */
export const openForReading = (file: string): ReadableDatabase => {
  assertNotCutOff(file);
  try {
    return readable(() => new DatabaseSync(file, { readOnly: true }));
  } catch (error) {
    const trouble = storageTrouble(error);
    if (trouble !== 'failed' && trouble !== 'readonly') throw error;
    const logBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (logBytes > 0) return openCopy(file);
    const unchanging = pathToFileURL(file);
    unchanging.searchParams.set('immutable', '1');
    return readable(() => new DatabaseSync(unchanging, { readOnly: true }));
  }
};
