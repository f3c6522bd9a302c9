// The runs that this process executes. One look at the journal finds whatever asks for something: cancels, pauses, deadlines, signals and
// pending runs, also those written by other processes. It is taken when the engine itself wrote one, when the wake file was touched, and
// every 200 ms while there is something to execute.
import type { Fault } from '../core/fault.ts';
import type { EpochMs } from '../core/ids.ts';
import { attachedChildren } from './attached-children.ts';
import { type Begun, beginLeft, beginPending, beginStartable, type BeginOptions, releaseKnownVersions } from './begin-records.ts';
import { noteCancel, pendingCancels } from './cancel-requests.ts';
import type { ContextTools } from './context.ts';
import { execute, type Execution, type ExecutionEnd, type ExecutionTools } from './execution.ts';
import { createHandlers, type Handlers } from './handlers.ts';
import type { LoopHandler, RunHandle, RunRow } from './port.ts';
import { resolveRun } from './payload.ts';
import { numberAt, textAt } from './rows.ts';
import { findRun, type RunOpening } from './run-records.ts';
import { isOpen } from './run-state.ts';
import { runsWithSignals } from './signal-records.ts';
import { applyStateRequests, hasStateRequests } from './state-requests.ts';
import type { Store } from './store.ts';
import { createWaiters } from './waiters.ts';

export const pollMs = 200;

export interface Executions {
  readonly handlers: Handlers;
  handleOf(run: RunRow): RunHandle;
  launch(opening: RunOpening, handler: LoopHandler): RunHandle;
  /** Goes on with what was left open. @returns handles of those that were begun */
  recover(): Promise<readonly RunHandle[]>;
  /** From now on begins whatever is pending, also what other processes ask for. */
  serve(): Promise<readonly RunHandle[]>;
  /** Asks a run to end, executed or not. */
  cancel(run: string, request: { readonly reason: string; readonly children: 'cancel' | 'leave' }): Promise<void>;
  cancelAll(reason: string): Promise<void>;
  /** The row says that it is parked: its execution is left. */
  suspend(run: string): void;
  /** Something in the journal asks to be looked at. */
  wake(): void;
  count(): number;
  /** Begins nothing more, and leaves every execution when its effects have ended. */
  quiesce(): Promise<void>;
  /** Settles when no execution is left; the engine has stopped. */
  finished(): Promise<void>;
  close(fault: Fault): void;
}

type Tools = Omit<ContextTools, 'kin'> & { readonly store: Store; readonly stopping: AbortSignal };

export const createExecutions = (tools: Tools): Executions => {
  const { store, clock, timers, bell, epoch } = tools;
  const executions = new Map<string, Execution>();
  /** Runs that were left parked here: another process may let them go on. */
  const parked = new Set<string>();
  const waiters = createWaiters((run) => resolveRun(store.blobs, run));
  const handlers = createHandlers();
  let isServing = false;
  let isClosed = false;
  let poll: { cancel(): void } | undefined;
  let looking: Promise<void> | undefined;
  let isLookWanted = false;

  // One listener for all: a signal walks the list of its listeners with each that is added.
  const onStops = new Set<() => void>();
  const stopAll = (): void => [...onStops].forEach((act) => act());
  for (const signal of [store.stopped, tools.stopping]) signal.addEventListener('abort', stopAll, { once: true });
  const onStop = (act: () => void): (() => void) => {
    onStops.add(act);
    return () => void onStops.delete(act);
  };

  store.stopped.addEventListener('abort', () => waiters.rejectAll(store.stopped.reason as Fault), { once: true });

  const handleOf = (run: RunRow): RunHandle => {
    if (isOpen(run)) return { id: run.id, ended: waiters.ended(run.id) };
    const ended = (async () => resolveRun(store.blobs, run))();
    ended.catch(() => {});
    return { id: run.id, ended };
  };

  const beginOptions = (): BeginOptions => ({ epoch, handlers, isServing, isBusy: (run) => executions.has(run) });

  const seeCancels = (): void => {
    for (const { run, generation, reason, children } of pendingCancels(store)) {
      const execution = executions.get(run);
      if (execution?.run.generation !== generation) continue;
      // A store that stops meanwhile has aborted the run already.
      execution.cancel(reason, children).catch(() => {});
    }
  };

  /** Requests for runs that are not executed here are noted by the look itself, so that they become pending. */
  const noteOthers = async (): Promise<void> => {
    const others = pendingCancels(store).filter(({ run, noted }) => !noted && !executions.has(run));
    if (others.length === 0) return;
    await store.write((transaction) => {
      for (const request of others) noteCancel(transaction, request);
    });
  };

  const seeStateRequests = async (): Promise<void> => {
    if (!hasStateRequests(store)) return;
    const paused = await store.write((transaction) => applyStateRequests(transaction));
    for (const run of paused) executions.get(run)?.suspend();
  };

  const seeDeadlines = async (now: EpochMs): Promise<void> => {
    const sql = `SELECT id, generation, deadline_at FROM runs WHERE deadline_at <= ? AND ended_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM cancels WHERE cancels.run = runs.id AND cancels.generation = runs.generation)`;
    const late = store.all(sql, now);
    if (late.length === 0) return;
    await store.write((transaction) => {
      for (const row of late) {
        const reason = `Its deadline ${new Date(numberAt(row, 'deadline_at')).toISOString()} has passed.`;
        noteCancel(transaction, { run: textAt(row, 'id'), generation: numberAt(row, 'generation'), reason });
      }
    });
  };

  const settleBegun = (begun: Begun): readonly RunHandle[] => {
    for (const run of begun.ended) {
      parked.delete(run.id);
      waiters.resolve(run);
    }
    return begun.openings.map(({ opening, handler }) => launch(opening, handler));
  };

  const seePending = async (): Promise<void> => {
    if (tools.stopping.aborted || isClosed || store.get("SELECT 1 FROM runs WHERE state = 'pending' LIMIT 1") === undefined) return;
    settleBegun(await store.write((transaction) => beginPending(transaction, beginOptions())));
  };

  const look = async (): Promise<void> => {
    await seeStateRequests();
    await seeDeadlines(clock());
    await noteOthers();
    seeCancels();
    for (const run of runsWithSignals(store)) bell.ring(run);
    await seePending();
  };

  const lookAgain = async (): Promise<void> => {
    for (;;) {
      if (!isLookWanted || isClosed) break;
      isLookWanted = false;
      try {
        await look();
      } catch {
        // The next look is a moment away, and the store itself reports a file that cannot be read.
      }
    }
    looking = undefined;
  };

  const wake = (): void => {
    isLookWanted = true;
    if (!isClosed) looking ??= lookAgain();
    keepPolling();
  };

  const isNeeded = (): boolean => isServing || executions.size > 0 || parked.size > 0;

  const keepPolling = (): void => {
    if (poll !== undefined || isClosed || !isNeeded()) return;
    poll = timers.after(pollMs, () => {
      poll = undefined;
      if (isNeeded()) wake();
    });
  };

  const cancel: Executions['cancel'] = async (run, { reason, children }) => {
    await store.write((transaction) => {
      const row = findRun(transaction, run);
      if (row !== undefined && isOpen(row)) noteCancel(transaction, { run, generation: row.generation, reason, children });
    });
    wake();
  };

  const endChildren: ExecutionTools['endChildren'] = async (run, cancelledFor) => {
    // A cancelled run has asked its children in the transaction of its cancel, or left them alone on purpose.
    const children = attachedChildren(store, run.id);
    if (children.length === 0) return;
    if (cancelledFor === undefined) {
      await store.write((transaction) => {
        for (const { id, generation } of children)
          noteCancel(transaction, { run: id, generation, reason: `The run ${run.id} that started it has ended.` });
      });
    }
    wake();
    const asked = new Set(pendingCancels(store).map((request) => request.run));
    await Promise.all(children.filter(({ id }) => asked.has(id) && canEnd(id)).map(({ id }) => waiters.ended(id)));
  };

  /** Whether an execution of it runs here, or can: its handler is known. */
  const canEnd = (id: string): boolean => {
    const run = findRun(store, id);
    return executions.has(id) || (run !== undefined && isOpen(run) && handlers.find(run) !== undefined);
  };

  const kin: ContextTools['kin'] = {
    begin: (child, handler) => {
      if (handlers.find({ loop: handler.name, version: handler.version }) === undefined) handlers.add(handler);
      wake();
      if (findRun(store, child)?.state !== 'running' || executions.has(child)) return;
      // A dead engine left it open, and recovery did not know its handler. A store that stops meanwhile has stopped its parent too.
      store.write((transaction) => beginLeft(transaction, child, beginOptions())).then(settleBegun, () => {});
    },
    ended: async (id) => {
      const run = findRun(store, id);
      return run !== undefined && !isOpen(run) ? resolveRun(store.blobs, run) : waiters.ended(id);
    },
    cancel: (run, reason) => cancel(run, { reason, children: 'cancel' }),
  };

  const conclude = (run: string, end: ExecutionEnd): void => {
    executions.delete(run);
    if (end.end === 'ended') waiters.resolve(end.run);
    else if (end.end === 'left') {
      parked.add(run);
      wake();
    }
    if (isNeeded()) return;
    poll?.cancel();
    poll = undefined;
  };

  const launch = (opening: RunOpening, handler: LoopHandler): RunHandle => {
    const { run } = opening;
    handlers.add(handler);
    const handle = handleOf(run);
    // Recovery may have found a run that `start` wrote a moment ago.
    if (executions.has(run.id)) return handle;
    const execution = execute({ ...tools, kin, endChildren, onStop }, opening, handler);
    executions.set(run.id, execution);
    parked.delete(run.id);
    keepPolling();
    void execution.finished.then((end) => conclude(run.id, end));
    return handle;
  };

  const recover = async (): Promise<readonly RunHandle[]> => {
    const begun = await store.write((transaction) => beginStartable(transaction, { ...beginOptions(), isServing }));
    return settleBegun(begun);
  };

  return {
    handlers,
    handleOf,
    launch,
    recover,
    cancel,
    wake,
    serve: async () => {
      isServing = true;
      await store.write((transaction) => releaseKnownVersions(transaction, handlers));
      const handles = await recover();
      wake();
      return handles;
    },
    cancelAll: async (reason) => {
      // One that was parked begins nothing more, and what it still performs is another's to end: it stays parked.
      const running = [...executions.values()].filter(({ run }) => findRun(store, run.id)?.state === 'running');
      await Promise.allSettled(running.map((execution) => execution.cancel(reason)));
      await Promise.all(running.map((execution) => execution.finished));
    },
    suspend: (run) => executions.get(run)?.suspend(),
    count: () => executions.size,
    quiesce: async () => {
      isClosed = true;
      for (const execution of executions.values()) execution.suspend();
      await Promise.all([...executions.values()].map((execution) => execution.finished));
    },
    finished: async () => {
      await Promise.all([...executions.values()].map((execution) => execution.finished));
      await looking;
    },
    close: (fault) => {
      isClosed = true;
      poll?.cancel();
      poll = undefined;
      waiters.rejectAll(fault);
    },
  };
};
