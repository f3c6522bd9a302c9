// The only writer of the journal.
//
//  1. Writes queued in one turn of the event loop commit together; a promise resolves only after COMMIT (P1).
//  2. Every transaction first compares the epoch with the owner row; another epoch stops the store for good.
//  3. A locked or full disk is no failure of a write: the same batch is tried again, in order, until the patience is used up; then the
//     store stops, and nothing that was not acknowledged is taken for written.
//  4. When the disk is full the reserve goes first, and the writes go on in its room. Unless there is room for a new reserve within the
//     patience, the store stops then, before the last room is gone.
//  5. The work of a write is run again on each try: it must read and change nothing but the database. Blobs that its rows
//     name are written before it, under the same patience.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Fault } from '../core/fault.ts';
import { epochMs, type EpochMs } from '../core/ids.ts';
import { beginAppending, type Queries, type Transaction } from './append.ts';
import { type Blobs, deferBlobs } from './blobs.ts';
import { canonicalJson } from './chain.ts';
import { pause } from './pause.ts';
import type { Timers } from './port.ts';
import type { Reserve } from './reserve.ts';
import { numberAt } from './rows.ts';
import { storageFault, type StorageTrouble, storageTrouble, systemTrouble } from './storage-error.ts';

/** Where a test may end the engine: between the work and COMMIT, and between COMMIT and the answer. A throw stops the store. */
export interface CrashPoints {
  readonly beforeCommit?: () => void;
  readonly afterCommit?: () => void;
}

export interface StoreOptions {
  readonly db: DatabaseSync;
  /** For payloads that are too large for a row. */
  readonly blobs: Blobs;
  readonly file: string;
  readonly epoch: number;
  readonly clock: () => EpochMs;
  readonly timers: Timers;
  /** How long a write is tried while another program holds the lock, and while the disk refuses. */
  readonly lockPatienceMs: number;
  readonly diskPatienceMs: number;
  /** Told once an outage, when its first try failed. */
  readonly onTrouble: (trouble: Fault) => void;
  readonly crashPoints: CrashPoints;
  readonly reserve: Reserve;
}

export interface Store extends Queries {
  readonly blobs: Blobs;
  write<T>(work: (transaction: Transaction) => T): Promise<T>;
  /** Aborted, with a Fault as its reason, when the store takes no more writes. */
  readonly stopped: AbortSignal;
  /** Refuses what is queued and all that comes. The first reason stands. */
  stop(reason: Fault): void;
  /** Settles when nothing is queued. */
  drained(): Promise<void>;
}

/** Short, so that a lock held by another program does not hold up the event loop; the retries make it long. */
const lockSliceMs = 50;
const firstDelayMs = 20;
const longestDelayMs = 1_000;
const batchMax = 1_000;

interface Write {
  readonly work: (transaction: Transaction) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Tried =
  | { readonly tried: 'committed'; readonly results: readonly unknown[] }
  | { readonly tried: 'storage'; readonly trouble: StorageTrouble; readonly error: unknown }
  | { readonly tried: 'fenced'; readonly by: number }
  | { readonly tried: 'mistake'; readonly write: Write; readonly error: unknown };

export const createStore = (options: StoreOptions): Store => {
  const { db, file, epoch } = options;
  const blobs = deferBlobs(options.blobs);
  const statements = new Map<string, StatementSync>();
  const stopping = new AbortController();
  const waiting: (() => void)[] = [];
  let queue: Write[] = [];
  let isPumping = false;
  db.exec(`PRAGMA busy_timeout = ${lockSliceMs}`);

  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const queries: Queries = {
    get: (sql, ...values) => prepared(sql).get(...values),
    all: (sql, ...values) => prepared(sql).all(...values),
  };
  const base = { ...queries, run: (...[sql, ...values]: Parameters<Transaction['run']>) => void prepared(sql).run(...values) };

  const stop = (reason: Fault): void => {
    if (stopping.signal.aborted) return;
    stopping.abort(reason);
    const refused = queue;
    queue = [];
    for (const write of refused) write.reject(reason);
  };

  const asFault = (error: unknown): Fault =>
    error instanceof Fault ? error : new Fault('ENGINE_STOPPED', `The journal ${file} could not be written.`, { cause: error });

  /** Runs the works of a batch inside an open transaction. */
  const perform = (batch: readonly Write[]): Exclude<Tried, { tried: 'storage' }> => {
    const owner = queries.get('SELECT epoch FROM owner WHERE id = 1');
    const owning = owner === undefined ? 0 : numberAt(owner, 'epoch');
    if (owning !== epoch) return { tried: 'fenced', by: owning };
    const { transaction, seal } = beginAppending(base, epochMs(Math.floor(options.clock())));
    const results: unknown[] = [];
    for (const write of batch) {
      try {
        results.push(write.work(transaction));
      } catch (error) {
        const trouble = storageTrouble(error) ?? systemTrouble(error);
        if (trouble !== undefined && trouble !== 'statement') throw error;
        return { tried: 'mistake', write, error };
      }
    }
    seal();
    return { tried: 'committed', results };
  };

  /** One transaction; whatever goes wrong, none is left open. */
  const tryBatch = (batch: readonly Write[]): Tried => {
    try {
      blobs.flush();
      db.exec('BEGIN IMMEDIATE');
      const tried = perform(batch);
      if (tried.tried === 'committed') {
        options.crashPoints.beforeCommit?.();
        db.exec('COMMIT');
      } else {
        db.exec('ROLLBACK');
      }
      return tried;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      const trouble = storageTrouble(error) ?? systemTrouble(error);
      if (trouble === undefined) throw error;
      return { tried: 'storage', trouble, error };
    }
  };

  /** After the reserve went: waits for room for a new one, and stops the store when none comes. */
  const watchRoom = async (fault: unknown): Promise<void> => {
    for (let waitedMs = 0; waitedMs < options.diskPatienceMs; waitedMs += longestDelayMs) {
      await pause(options.timers, longestDelayMs, [stopping.signal]);
      if (stopping.signal.aborted || options.reserve.refill()) return;
    }
    stop(asFault(fault));
  };

  /** @returns whether there is more room now */
  const useReserve = (fault: unknown): boolean => {
    if (!options.reserve.free()) return false;
    if (fault instanceof Fault) options.onTrouble(fault);
    const filled = { kind: 'disk.filled', run: '', data: canonicalJson({ file }) };
    write((transaction) => transaction.fact(filled)).catch(() => {});
    void watchRoom(fault);
    return true;
  };

  /** Brings a batch to its end: committed, refused, or the store stopped. */
  const settle = async (first: readonly Write[]): Promise<void> => {
    let batch = first;
    let mayUseReserve = true;
    let waitedMs = 0;
    for (let delayMs = firstDelayMs; batch.length > 0;) {
      const tried = tryBatch(batch);
      if (tried.tried === 'committed') {
        options.crashPoints.afterCommit?.();
        for (const [index, write] of batch.entries()) write.resolve(tried.results[index]);
        return;
      }
      if (tried.tried === 'mistake') {
        // The others of the batch have nothing to do with it: they go on without it.
        tried.write.reject(tried.error);
        batch = batch.filter((write) => write !== tried.write);
        continue;
      }
      if (tried.tried === 'fenced') {
        throw new Fault('ENGINE_FENCED', `The journal ${file} was taken over by another engine (epoch ${tried.by}, ours is ${epoch}).`, {
          hint: 'This engine has stopped and writes nothing more.',
          data: { file, epoch, by: tried.by },
        });
      }
      const fault = storageFault(tried.error, file);
      if (tried.trouble === 'full' && mayUseReserve && useReserve(fault)) {
        // Full for another reason than the disk, when it does not help.
        mayUseReserve = false;
        continue;
      }
      const patienceMs = {
        locked: options.lockPatienceMs,
        full: options.diskPatienceMs,
        readonly: options.diskPatienceMs,
        failed: options.diskPatienceMs,
        corrupt: 0,
        statement: 0,
      };
      if (waitedMs >= patienceMs[tried.trouble]) throw fault;
      if (waitedMs === 0 && fault instanceof Fault) options.onTrouble(fault);
      await pause(options.timers, delayMs, [stopping.signal]);
      if (stopping.signal.aborted) throw stopping.signal.reason;
      waitedMs += delayMs + (tried.trouble === 'locked' ? lockSliceMs : 0);
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    }
  };

  const pump = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.splice(0, batchMax);
      try {
        await settle(batch);
      } catch (error) {
        stop(asFault(error));
        // Those of the batch that were settled before are not touched by this.
        for (const write of batch) write.reject(stopping.signal.reason);
      }
    }
    isPumping = false;
    for (const resolve of waiting.splice(0)) resolve();
  };

  const write = <T>(work: (transaction: Transaction) => T): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (stopping.signal.aborted) {
        reject(stopping.signal.reason as Fault);
        return;
      }
      queue.push({ work, resolve: (value) => resolve(value as T), reject });
      if (isPumping) return;
      isPumping = true;
      setImmediate(() => void pump());
    });

  return {
    ...queries,
    blobs,
    stopped: stopping.signal,
    stop,
    write,
    drained: () =>
      new Promise((resolve) => {
        if (isPumping) waiting.push(resolve);
        else resolve();
      }),
  };
};
