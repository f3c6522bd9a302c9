// The engine: owns a state home, starts runs and brings them to their end.
//
// `Symbol.asyncDispose` is a clean crash: signals abort with ENGINE_DISPOSED, an effect that ends within the grace is still recorded,
// no run is ended and no process is ended; the ownership is given back. The next engine goes on with `recover`.
import { mkdirSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Defect, Fault } from '../core/fault.ts';
import { pendingCancels } from './cancel-requests.ts';
import { createBlobs } from './blobs.ts';
import { canonicalJson } from './chain.ts';
import { takeEngineSignals } from './engine-signals.ts';
import { execute, type Execution } from './execution.ts';
import { decodeJson, encodeJson } from './json.ts';
import { assertDomainKind, assertName } from './names.ts';
import { notBuilt } from './not-built.ts';
import { lockStateHome, releaseOwnership, takeOwnership } from './owner.ts';
import { pause } from './pause.ts';
import { purge } from './purge.ts';
import type { Engine, EngineOptions, JournalReader, LoopHandler, RunHandle, RunRow } from './port.ts';
import { resolvePayload } from './payload.ts';
import { openReader } from './reader.ts';
import { encodeChanges, putRegisters } from './registers.ts';
import { createReserve, type Reserve } from './reserve.ts';
import { isOpen } from './run-state.ts';
import { findStartableRuns, reopenRun, resumeRun, type RunOpening, startRun } from './run-records.ts';
import { journalFile, openDatabase } from './schema.ts';
import { storageFault } from './storage-error.ts';
import { type CrashPoints, createStore, type Store } from './store.ts';

const cancelPollMs = 200;
const lockPatienceMs = 120_000;
const diskPatienceMs = 10_000;
const disposeGraceMs = 5_000;
const reserveBytesDefault = 1024 * 1024;

/** What only tests put in. */
export interface EngineTestOptions extends CrashPoints {
  readonly database?: (db: DatabaseSync) => void;
}

interface Opened {
  readonly options: EngineOptions;
  readonly store: Store;
  readonly reader: JournalReader;
  readonly epoch: number;
  /** Closes the files; the system's lock goes last. */
  readonly close: () => void;
}

interface Waiter {
  readonly ended: Promise<RunRow>;
  readonly resolve: (run: RunRow) => void;
  readonly reject: (fault: Fault) => void;
}

const newWaiter = (): Waiter => {
  const { promise, resolve, reject } = Promise.withResolvers<RunRow>();
  // A caller that only starts a run must not be ended by a stopped engine.
  promise.catch(() => {});
  return { ended: promise, resolve, reject };
};

/** Waits for what never rejects, but not longer than the grace. */
const withinGrace = async (work: Promise<unknown>): Promise<void> => {
  const over = new AbortController();
  await Promise.race([work, pause(disposeGraceMs, over.signal)]);
  over.abort();
};

const createEngine = ({ options, store, reader, epoch, close }: Opened): Engine => {
  const executions = new Map<string, Execution>();
  const waiters = new Map<string, Waiter>();
  const stopping = new AbortController();
  let poll: NodeJS.Timeout | undefined;
  let disposed: Promise<void> | undefined;

  const assertRunning = (): void => {
    for (const signal of [store.stopped, stopping.signal]) if (signal.aborted) throw signal.reason;
  };

  const rejectWaiters = (fault: Fault): void => {
    for (const waiter of waiters.values()) waiter.reject(fault);
    waiters.clear();
  };
  store.stopped.addEventListener('abort', () => rejectWaiters(store.stopped.reason as Fault), { once: true });

  const handleOf = (run: RunRow): RunHandle => {
    if (!isOpen(run)) return { id: run.id, ended: Promise.resolve(run) };
    const waiter = waiters.get(run.id) ?? newWaiter();
    waiters.set(run.id, waiter);
    return { id: run.id, ended: waiter.ended };
  };

  const seeCancels = (): void => {
    try {
      for (const request of pendingCancels(store)) {
        const execution = executions.get(request.run);
        if (execution?.run.generation !== request.generation) continue;
        // A store that stops meanwhile has aborted the run already.
        execution.cancel(request.reason).catch(() => {});
      }
    } catch {
      // The next look is a moment away, and the store itself reports a file that cannot be read.
    }
  };

  const launch = (opening: RunOpening, handler: LoopHandler): RunHandle => {
    const { run } = opening;
    const handle = handleOf(run);
    // Recovery may have found a run that `start` wrote a moment ago.
    if (executions.has(run.id)) return handle;
    const tools = { ...options, store, stopping: stopping.signal };
    const execution = execute(tools, opening, handler);
    executions.set(run.id, execution);
    poll ??= setInterval(seeCancels, cancelPollMs).unref();
    const conclude = (end: RunRow | Fault): void => {
      executions.delete(run.id);
      if (executions.size === 0) {
        clearInterval(poll);
        poll = undefined;
      }
      const waiter = waiters.get(run.id);
      waiters.delete(run.id);
      if (end instanceof Fault) waiter?.reject(end);
      else waiter?.resolve(end);
    };
    void execution.finished.then(conclude);
    return handle;
  };

  const dispose = async (): Promise<void> => {
    stopping.abort(new Fault('ENGINE_DISPOSED', `The engine of ${options.stateHome} was closed.`));
    await withinGrace(Promise.all([...executions.values()].map((execution) => execution.finished)));
    if (!store.stopped.aborted) {
      // A disk that refuses now costs nothing: the lock says the same.
      await withinGrace(store.write((transaction) => releaseOwnership(transaction, epoch)).catch(() => {}));
    }
    store.stop(stopping.signal.reason as Fault);
    await store.drained();
    rejectWaiters(stopping.signal.reason as Fault);
    clearInterval(poll);
    reader[Symbol.dispose]();
    close();
  };

  return {
    reader,
    start: async (handler, input, { id, dedupeKey }) => {
      assertRunning();
      assertName('The run id', id);
      assertName('The dedupe key', dedupeKey);
      const text = encodeJson(input, `The input of run ${id}`);
      const { run, opening } = await store.write((transaction) => startRun(transaction, { id, dedupeKey, handler, input: text }));
      return opening === undefined ? handleOf(run) : launch(opening, handler);
    },
    recover: async (handlers) => {
      assertRunning();
      const left = await store.write((transaction) =>
        findStartableRuns(transaction).flatMap((run) => {
          const handler = handlers.find(({ name, version }) => name === run.loop && version === run.version);
          return handler === undefined || executions.has(run.id) ? [] : [{ opening: resumeRun(transaction, run, epoch), handler }];
        }),
      );
      return left.map(({ opening, handler }) => launch(opening, handler));
    },
    reopen: async (handler, id, input) => {
      assertRunning();
      const text = encodeJson(input, `The input of run ${id}`);
      const reopened = await store.write((transaction) => reopenRun(transaction, { id, handler, input: text }));
      if (reopened instanceof Fault) throw reopened;
      return launch(reopened, handler);
    },
    record: async (kind, data) => {
      assertRunning();
      assertDomainKind(kind);
      const text = canonicalJson(decodeJson(encodeJson(data, `The fact ${kind}`)));
      await store.write((transaction) => transaction.fact({ kind, run: '', data: text }));
    },
    cancelAll: async (reason) => {
      const running = [...executions.values()];
      await Promise.allSettled(running.map((execution) => execution.cancel(reason)));
      await Promise.all(running.map((execution) => execution.finished));
    },
    serve: async () => notBuilt('Engine.serve'),
    signal: async () => notBuilt('Engine.signal'),
    takeSignals: async (name) => {
      assertRunning();
      const taken = await store.write((transaction) => takeEngineSignals(transaction, name));
      return taken.map((signal) => ({ ...signal, payload: resolvePayload(store.blobs, signal.payload) }));
    },
    cancel: async () => notBuilt('Engine.cancel'),
    pause: async () => notBuilt('Engine.pause'),
    resume: async () => notBuilt('Engine.resume'),
    decide: async () => notBuilt('Engine.decide'),
    retryFrom: async () => notBuilt('Engine.retryFrom'),
    put: async (changes) => {
      assertRunning();
      const encoded = encodeChanges(changes);
      return store.write((transaction) => putRegisters(transaction, encoded));
    },
    drain: async () => notBuilt('Engine.drain'),
    purge: async ({ before, keep = [] }) => {
      assertRunning();
      return purge(store, { before, keep, now: options.clock() });
    },
    capabilities: () => notBuilt('Engine.capabilities'),
    health: () => notBuilt('Engine.health'),
    [Symbol.asyncDispose]: () => (disposed ??= dispose()),
  };
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
  const { stateHome, clock } = options;
  const file = journalFile(stateHome);
  const opened: { close(): void }[] = [];
  const close = (): void => {
    for (const one of opened.splice(0).toReversed()) one.close();
  };
  try {
    mkdirSync(stateHome, { recursive: true, mode: 0o700 });
    opened.push(await lockStateHome(stateHome));
    const db = openDatabase(file);
    opened.push(db);
    const epoch = takeOwnership(db, { stateHome, now: clock() });
    const reader = openReader(stateHome);
    if (reader === undefined) throw new Defect(`The journal ${file} is not there after it was opened.`);
    test.database?.(db);
    const store = createStore({
      db,
      blobs: createBlobs(stateHome),
      reserve: makeReserve(options),
      file,
      epoch,
      clock,
      lockPatienceMs: options.lockPatienceMs ?? lockPatienceMs,
      diskPatienceMs: options.diskPatienceMs ?? diskPatienceMs,
      onTrouble: options.onTrouble ?? (() => {}),
      crashPoints: test,
    });
    return createEngine({ options, store, reader, epoch, close });
  } catch (error) {
    close();
    throw storageFault(error, file);
  }
};

/**
 * Opens the state home of `options` and becomes its owner.
 * @throws Fault STATE_HOME_HELD (another engine lives; data: pid, since), JOURNAL_TOO_NEW, JOURNAL_CORRUPT, STORAGE_LOCKED,
 *   STORAGE_FULL, STORAGE_FAILED
 */
export const openEngine = (options: EngineOptions): Promise<Engine> => openEngineWith(options, {});
