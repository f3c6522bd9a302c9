// One engine owns a state home at a time.
//
//  1. The owner holds a lock of the system on the file `lock` as long as it lives; the system frees it with the process, never before.
//  2. The owner row says who: pid, start time, boot id, epoch. A row that names another living process refuses too, because some file
//     systems grant every lock.
//  3. Time plays no part: a suspended owner stays the owner. Each taking opens the next epoch, and the store refuses every other.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '../core/fault.ts';
import type { EpochMs } from '../core/ids.ts';
import { isAlive, sameProcess, type ProcessIdentity } from '../process/index.ts';
import { beginAppending, type Queries, type Transaction } from './append.ts';
import { canonicalJson } from './chain.ts';

import { numberAt, type Row, textAt } from './rows.ts';
import { journalFile, schemaVersion } from './schema.ts';
import { storageTrouble } from './storage-error.ts';

interface Owner {
  readonly identity: ProcessIdentity;
  readonly epoch: number;
  readonly takenAt: number;
}

/** @returns undefined when nobody took the state home yet, or the last owner gave it back */
export const readOwner = (queries: Pick<Queries, 'get'>): Owner | undefined => {
  const row: Row | undefined = queries.get('SELECT * FROM owner WHERE id = 1 AND released = 0');
  if (row === undefined) return undefined;
  const identity = { pid: numberAt(row, 'pid'), startTime: textAt(row, 'start_time'), bootId: textAt(row, 'boot_id') };
  return { identity, epoch: numberAt(row, 'epoch'), takenAt: numberAt(row, 'taken_at') };
};

const held = (stateHome: string, owner: Owner | undefined): Fault => {
  const who =
    owner === undefined
      ? 'by another engine that is just starting'
      : `by process ${owner.identity.pid} since ${new Date(owner.takenAt).toISOString()}`;
  return new Fault('STATE_HOME_HELD', `The state home ${stateHome} is held ${who}.`, {
    hint:
      owner === undefined
        ? 'Try again.'
        : 'Wait until it has ended: `gyre status` shows what it does, and `gyre stop <run>` ends a run of it.',
    data: { stateHome, ...(owner === undefined ? {} : { pid: owner.identity.pid, since: owner.takenAt, epoch: owner.epoch }) },
  });
};

const queriesOf = (db: DatabaseSync): Queries => ({
  get: (sql, ...values) => db.prepare(sql).get(...values),
  all: (sql, ...values) => db.prepare(sql).all(...values),
});

const peekOwner = (stateHome: string): Owner | undefined => {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(journalFile(stateHome), { readOnly: true });
    return schemaVersion(db) === 0 ? undefined : readOwner(queriesOf(db));
  } catch {
    // The holder may be making the file this moment: then there is no name to give.
    return undefined;
  } finally {
    db?.close();
  }
};

export const lockFile = (stateHome: string): string => path.join(stateHome, 'lock');

/** @returns undefined while another engine holds it */
export const tryLock = (file: string): DatabaseSync | undefined => {
  const lock = new DatabaseSync(file);
  try {
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    const trouble = storageTrouble(error);
    if (trouble === 'locked') return undefined;
    if (trouble !== 'corrupt') throw error;
    // Not a lock file of ours, so nobody can hold it; the owner row still protects a living engine.
    rmSync(file, { force: true });
    return tryLock(file);
  }
};

/** An engine that was just killed frees its lock a moment after its parent hears of it. */
const lockTries = 10;
const lockDelayMs = 50;

/**
 * Takes the system's lock of a state home.
 * @throws Fault STATE_HOME_HELD
 */
export const lockStateHome = async (stateHome: string): Promise<DatabaseSync> => {
  for (let tries = 1; ; tries += 1) {
    const lock = tryLock(lockFile(stateHome));
    if (lock !== undefined) return lock;
    if (tries === lockTries) throw held(stateHome, peekOwner(stateHome));
    await delay(lockDelayMs);
  }
};

const writeOwner = (transaction: Transaction, stateHome: string, self: ProcessIdentity): number => {
  const owner = readOwner(transaction);
  if (owner !== undefined && !sameProcess(owner.identity, self) && isAlive(owner.identity)) throw held(stateHome, owner);
  transaction.run(
    `INSERT INTO owner (id, pid, start_time, boot_id, epoch, taken_at, released) VALUES (1, ?, ?, ?, 1, ?, 0)
     ON CONFLICT (id) DO UPDATE SET pid = excluded.pid, start_time = excluded.start_time, boot_id = excluded.boot_id,
       epoch = epoch + 1, taken_at = excluded.taken_at, released = 0`,
    self.pid,
    self.startTime,
    self.bootId,
    transaction.now,
  );
  const epoch = readOwner(transaction)?.epoch ?? 0;
  transaction.fact({ kind: 'owner.taken', run: '', data: canonicalJson({ ...self, epoch }) });
  return epoch;
};

/**
 * Writes the owner row. Called while holding the lock.
 * @returns the epoch of this ownership
 * @throws Fault STATE_HOME_HELD when the row names another living process
 */
export const takeOwnership = (
  db: DatabaseSync,
  options: { readonly stateHome: string; readonly now: EpochMs; readonly self: ProcessIdentity },
): number => {
  db.exec('BEGIN IMMEDIATE');
  try {
    const base = { ...queriesOf(db), run: (...[sql, ...values]: Parameters<Transaction['run']>) => void db.prepare(sql).run(...values) };
    const { transaction, seal } = beginAppending(base, options.now);
    const epoch = writeOwner(transaction, options.stateHome, options.self);
    seal();
    db.exec('COMMIT');
    return epoch;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
};

export const releaseOwnership = (transaction: Transaction, epoch: number): void => {
  transaction.run('UPDATE owner SET released = 1 WHERE id = 1');
  transaction.fact({ kind: 'owner.released', run: '', data: canonicalJson({ epoch }) });
};
