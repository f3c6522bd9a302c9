// Opens a state home and puts an engine together on it.
import { mkdirSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Defect, Fault } from '../core/fault.ts';
import { type ProcessIdentity, selfIdentity } from '../process/index.ts';
import { createBlobs } from './blobs.ts';
import { createEngine } from './engine.ts';
import { createExecutions } from './executions.ts';
import { lockStateHome, takeOwnership } from './owner.ts';
import type { Engine, EngineOptions, JournalReader } from './port.ts';
import { createReader, openReader } from './reader.ts';
import { createReserve, noReserve, type Reserve } from './reserve.ts';
import { journalFile, migrate, openDatabase, schemaVersion } from './schema.ts';
import { createSignalBell } from './signal-bell.ts';
import { createSlots } from './slots.ts';
import { storageFault } from './storage-error.ts';
import { type CrashPoints, createStore } from './store.ts';
import { systemTimers } from './timers.ts';
import { watchWake } from './wake.ts';

const lockPatienceMs = 120_000;
const diskPatienceMs = 10_000;
const reserveBytesDefault = 1024 * 1024;

/** What only tests put in. */
export interface EngineTestOptions extends CrashPoints {
  /** Given the open database before the engine uses it. */
  readonly database?: (db: DatabaseSync) => void;
  /**
   * In place of files: a database, usually `:memory:`, that outlives the engine, for a simulator that crashes and opens engines thousands
   * of times. No lock is taken and no file read or written; only one engine may use it at a time. The engine does not close it.
   */
  readonly memory?: { readonly db: DatabaseSync; readonly identity: ProcessIdentity };
}

interface Ground {
  readonly db: DatabaseSync;
  readonly reader: JournalReader;
  readonly epoch: number;
}

const openFiles = async ({ stateHome, clock }: EngineOptions, opened: { close(): void }[]): Promise<Ground> => {
  mkdirSync(stateHome, { recursive: true, mode: 0o700 });
  opened.push(await lockStateHome(stateHome));
  const db = openDatabase(journalFile(stateHome));
  opened.push(db);
  const epoch = takeOwnership(db, { stateHome, now: clock(), self: selfIdentity() });
  const reader = openReader(stateHome);
  if (reader === undefined) throw new Defect(`The journal ${journalFile(stateHome)} is not there after it was opened.`);
  return { db, reader, epoch };
};

const openMemory = ({ stateHome, clock }: EngineOptions, { db, identity }: NonNullable<EngineTestOptions['memory']>): Ground => {
  migrate(db, schemaVersion(db));
  const epoch = takeOwnership(db, { stateHome, now: clock(), self: identity });
  return { db, epoch, reader: createReader(db, { file: 'memory', blobs: createBlobs(stateHome), close: () => {} }) };
};

const makeReserve = ({ stateHome, reserveBytes = reserveBytesDefault, onTrouble }: EngineOptions): Reserve => {
  const reserve = createReserve(stateHome, reserveBytes);
  if (!reserve.fill()) {
    onTrouble?.(
      new Fault('RESERVE_MISSING', `The disk of ${stateHome} has no room for the reserve of ${reserveBytes} bytes.`, {
        hint: 'Free some space: without a reserve a full disk stops the engine at once.',
        data: { stateHome, reserveBytes },
      }),
    );
  }
  return reserve;
};

/** `openEngine` with what only tests put in. */
export const openEngineWith = async (options: EngineOptions, test: EngineTestOptions): Promise<Engine> => {
  const { stateHome, clock, timers = systemTimers } = options;
  const file = journalFile(stateHome);
  const opened: { close(): void }[] = [];
  const close = (): void => {
    for (const one of opened.splice(0).toReversed()) one.close();
  };
  try {
    const { memory } = test;
    const { db, reader, epoch } = memory === undefined ? await openFiles(options, opened) : openMemory(options, memory);
    test.database?.(db);
    const store = createStore({
      db,
      blobs: createBlobs(stateHome),
      reserve: memory === undefined ? makeReserve(options) : noReserve,
      file,
      epoch,
      clock,
      timers,
      lockPatienceMs: options.lockPatienceMs ?? lockPatienceMs,
      diskPatienceMs: options.diskPatienceMs ?? diskPatienceMs,
      onTrouble: options.onTrouble ?? (() => {}),
      crashPoints: test,
    });
    const stopping = new AbortController();
    const bell = createSignalBell();
    const slots = createSlots(options.slots ?? {});
    const { processes, chance } = options;
    const tools = { stateHome, processes, clock, chance, timers, store, slots, bell, epoch, stopping: stopping.signal };
    const executions = createExecutions(tools);
    const watch = memory === undefined ? (onWake: () => void) => watchWake(stateHome, onWake) : (): undefined => undefined;
    return createEngine({ options, timers, store, reader, epoch, bell, executions, stopping, watchWake: watch, close });
  } catch (error) {
    close();
    throw storageFault(error, file);
  }
};

/**
 * Opens the state home of `options` and becomes its owner.
 * @throws Fault STATE_HOME_HELD (another engine lives; data: pid, since), JOURNAL_TOO_NEW, JOURNAL_CORRUPT, STORAGE_LOCKED,
 *   STORAGE_FULL, STORAGE_READONLY, STORAGE_FAILED
 */
export const openEngine = (options: EngineOptions): Promise<Engine> => openEngineWith(options, {});
