// The engine: owns a state home, starts runs and brings them to their end.
//
// `Symbol.asyncDispose` is a clean crash: signals abort with ENGINE_DISPOSED, an effect that ends within the grace is still recorded,
// no run is ended and no process is ended; the ownership is given back. The next engine goes on with `recover` or `serve`.
import { Fault } from '../core/fault.ts';
import { canonicalJson } from './chain.ts';
import type { Executions } from './executions.ts';
import { takeEngineSignals } from './engine-signals.ts';
import { journalHealth } from './health.ts';
import { decodeJson, encodeJson, inlineBytesMax } from './json.ts';
import { assertDomainKind, assertName } from './names.ts';
import { releaseOwnership } from './owner.ts';
import { assertAmounts } from './budget-records.ts';
import { encodePayload, resolvePayload } from './payload.ts';
import { encodeChanges, putRegisters } from './registers.ts';
import { purge } from './purge.ts';
import { pauseRun, releaseRun } from './park-records.ts';
import { pause } from './pause.ts';
import type { Engine, EngineOptions, JournalReader, Timers } from './port.ts';
import { pollMs } from './executions.ts';
import { decideStep, retryRunFrom } from './retry-records.ts';
import { findRun, reopenRun, startRun } from './run-records.ts';
import { isOpen } from './run-state.ts';
import { storeSignal } from './signal-records.ts';
import type { SignalBell } from './signal-bell.ts';
import type { Store } from './store.ts';

const disposeGraceMs = 5_000;

export interface OpenedEngine {
  readonly options: EngineOptions;
  readonly timers: Timers;
  readonly store: Store;
  readonly reader: JournalReader;
  readonly epoch: number;
  readonly bell: SignalBell;
  readonly executions: Executions;
  /** Aborted by the engine when it closes. */
  readonly stopping: AbortController;
  /** Calls back when another process touched the wake file. @returns what ends it */
  readonly watchWake: (onWake: () => void) => { close(): void } | undefined;
  /** Closes the files; the system's lock goes last. */
  readonly close: () => void;
}

export const createEngine = (opened: OpenedEngine): Engine => {
  const { options, timers, store, reader, epoch, bell, executions, stopping, close } = opened;
  let watcher: { close(): void } | undefined;
  let disposed: Promise<void> | undefined;
  let isDraining = false;

  const assertRunning = (): void => {
    for (const signal of [store.stopped, stopping.signal]) if (signal.aborted) throw signal.reason;
    if (isDraining) throw new Fault('ENGINE_DRAINING', `The engine of ${options.stateHome} is closing and begins nothing more.`);
  };

  /** Waits for what never rejects, but not longer than the grace. */
  const withinGrace = async (graceMs: number, work: Promise<unknown>): Promise<void> => {
    const over = new AbortController();
    await Promise.race([work, pause(timers, graceMs, [over.signal])]);
    over.abort();
  };

  const dispose = async (): Promise<void> => {
    const closed = new Fault('ENGINE_DISPOSED', `The engine of ${options.stateHome} was closed.`);
    stopping.abort(closed);
    watcher?.close();
    await withinGrace(disposeGraceMs, executions.finished());
    if (!store.stopped.aborted) {
      // A disk that refuses now costs nothing: the lock says the same.
      await withinGrace(
        disposeGraceMs,
        store.write((transaction) => releaseOwnership(transaction, epoch)).catch(() => {}),
      );
    }
    store.stop(closed);
    await store.drained();
    executions.close(closed);
    reader[Symbol.dispose]();
    close();
  };
  const disposeOnce = (): Promise<void> => (disposed ??= dispose());

  /** The run, or a fault as a value, because the work of a write throws for mistakes of the engine alone. */
  const unknownRun = (run: string): Fault => new Fault('RUN_UNKNOWN', `There is no run ${run} in this journal.`, { data: { run } });

  return {
    reader,
    start: async (handler, input, startOptions) => {
      assertRunning();
      const { id, dedupeKey, budget } = startOptions;
      assertName('The run id', id);
      assertName('The dedupe key', dedupeKey);
      if (budget !== undefined) assertAmounts(budget);
      const text = encodePayload(store.blobs, input, `The input of run ${id}`);
      const { run, opening } = await store.write((transaction) => startRun(transaction, { ...startOptions, handler, input: text }));
      return opening === undefined ? executions.handleOf(run) : executions.launch(opening, handler);
    },
    recover: async (handlers) => {
      assertRunning();
      for (const handler of handlers) executions.handlers.add(handler);
      return executions.recover();
    },
    serve: async (handlers) => {
      assertRunning();
      for (const handler of handlers) executions.handlers.add(handler);
      watcher ??= opened.watchWake(() => executions.wake());
      return executions.serve();
    },
    reopen: async (handler, id, input) => {
      assertRunning();
      const text = encodePayload(store.blobs, input, `The input of run ${id}`);
      const reopened = await store.write((transaction) => reopenRun(transaction, { id, handler, input: text }));
      if (reopened instanceof Fault) throw reopened;
      return executions.launch(reopened, handler);
    },
    record: async (kind, data) => {
      assertRunning();
      assertDomainKind(kind);
      const text = canonicalJson(decodeJson(encodeJson(data, `The fact ${kind}`)));
      await store.write((transaction) => transaction.fact({ kind, run: '', data: text }));
    },
    signal: async (run, name, payload, { dedupeKey, by = '' } = {}) => {
      assertRunning();
      assertName('The signal', name);
      const text = encodePayload(store.blobs, payload, `The signal ${name}`);
      const receipt = await store.write((transaction) =>
        storeSignal(transaction, { run, name, payload: text, dedupeKey, by, at: transaction.now }),
      );
      bell.ring(run);
      return receipt;
    },
    cancel: async (run, { reason, children = 'cancel' }) => {
      assertRunning();
      await executions.cancel(run, { reason, children });
    },
    cancelAll: (reason) => executions.cancelAll(reason),
    pause: async (run, reason) => {
      assertRunning();
      const row = findRun(store, run);
      if (row === undefined) return;
      if (await store.write((transaction) => pauseRun(transaction, row, reason))) executions.suspend(run);
    },
    resume: async (run, { budget } = {}) => {
      assertRunning();
      if (budget !== undefined) assertAmounts(budget);
      const row = findRun(store, run);
      if (row === undefined) throw unknownRun(run);
      if (!isOpen(row)) throw new Fault('RUN_ENDED', `Run ${run} has ended; it can be opened again, not resumed.`, { data: { run } });
      await store.write((transaction) => releaseRun(transaction, row, { why: 'resumed', ...(budget === undefined ? {} : { budget }) }));
      executions.wake();
    },
    decide: async (run, step, decision) => {
      assertRunning();
      const outcome =
        decision === 'perform-again'
          ? undefined
          : { text: encodePayload(store.blobs, decision.outcome, `The outcome of step ${JSON.stringify(step)}`) };
      const refusal = await store.write((transaction) => decideStep(transaction, { run, step, outcome }));
      if (refusal !== undefined) throw refusal;
      executions.wake();
    },
    retryFrom: async (run, stepKey) => {
      assertRunning();
      const row = findRun(store, run);
      if (row === undefined) throw unknownRun(run);
      if (executions.handlers.find(row) === undefined) {
        throw new Fault('HANDLER_UNKNOWN', `This engine was given no handler of the loop ${row.loop}, version ${row.version}.`, {
          data: { run, loop: row.loop, version: row.version },
        });
      }
      const again = await store.write((transaction) => retryRunFrom(transaction, run, stepKey));
      if (again instanceof Fault) throw again;
      executions.wake();
      return executions.handleOf(again);
    },
    takeSignals: async (name) => {
      assertRunning();
      const taken = await store.write((transaction) => takeEngineSignals(transaction, name));
      return taken.map((signal) => ({ ...signal, payload: resolvePayload(store.blobs, signal.payload) }));
    },
    put: async (changes) => {
      assertRunning();
      const encoded = encodeChanges(changes);
      return store.write((transaction) => putRegisters(transaction, encoded));
    },
    purge: async ({ before, keep = [] }) => {
      assertRunning();
      return purge(store, { before, keep, now: options.clock() });
    },
    drain: async ({ graceMs }) => {
      if (!isDraining) {
        isDraining = true;
        await withinGrace(graceMs, executions.quiesce());
      }
      await disposeOnce();
    },
    capabilities: () => ({
      distributed: false,
      liveProcessAdoption: true,
      maxPayload: inlineBytesMax,
      cancelLatencyMs: pollMs,
      cron: false,
    }),
    health: () => ({
      ...journalHealth(store),
      epoch,
      executing: executions.count(),
      stopped: store.stopped.aborted ? (store.stopped.reason as Fault) : undefined,
    }),
    [Symbol.asyncDispose]: disposeOnce,
  };
};
