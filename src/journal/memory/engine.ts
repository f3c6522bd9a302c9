// The engine of the model: the same port as the engine over SQLite, over plain maps and by nobody's clock but the one it is given.
import { Fault } from '../../core/fault.ts';
import { assertDomainKind, assertName } from '../names.ts';
import type { Engine, LoopHandler, RunHandle, RunRow } from '../port.ts';
import { assertReopenable, createControls } from './controls.ts';
import { type Execution, execute } from './execution.ts';
import type { Launcher } from './launcher.ts';
import type { Life } from './life.ts';
import { inFact, toText, fromText } from './payload.ts';
import { createMemoryReader } from './reader.ts';
import { isEnded, openByDedupeKey, putRun, rowOf, runOf } from './rows.ts';
import { beginRun, endRun, newRun, noteCancel, openAgain } from './run-records.ts';
import { createSlots } from './slots.ts';
import { takeEngineSignals } from './signals.ts';

const disposeGraceMs = 5_000;

export const createMemoryEngine = (life: Life): Engine => {
  const { state, options } = life;
  const executions = new Map<string, Execution>();
  const waiters = new Map<string, PromiseWithResolvers<RunRow>>();
  const handlers: LoopHandler[] = [];
  const deadlines = new Map<string, { cancel(): void }>();
  const slots = createSlots(options.slots ?? {}, state);
  let isServing = false;
  let isDraining = false;
  let disposed: Promise<void> | undefined;

  const learn = (more: readonly LoopHandler[]): void => {
    for (const handler of more) {
      const index = handlers.findIndex(({ name, version }) => name === handler.name && version === handler.version);
      handlers.splice(index < 0 ? handlers.length : index, index < 0 ? 0 : 1, handler);
    }
  };
  const handlerOf = ({ row }: ReturnType<typeof runOf>): LoopHandler | undefined =>
    handlers.find(({ name, version }) => name === row.loop && version === row.version);

  const handleOf = (id: string): RunHandle => {
    const run = runOf(state, id);
    if (isEnded(run)) return { id: run.row.id, ended: Promise.resolve(rowOf(state, run)) };
    const waiter = waiters.get(id) ?? Promise.withResolvers<RunRow>();
    // A caller that only starts a run must not be ended by a stopped engine.
    waiter.promise.catch(() => {});
    waiters.set(id, waiter);
    return { id: run.row.id, ended: waiter.promise };
  };
  const rejectWaiters = (): void => {
    for (const waiter of waiters.values()) waiter.reject(life.stopped.reason);
    waiters.clear();
  };
  life.stopped.addEventListener('abort', rejectWaiters, { once: true });

  const execution = (id: string, handler: LoopHandler): void => {
    const { deadlineAt, endedAt } = runOf(state, id).row;
    if (executions.has(id) || endedAt !== undefined || life.stopped.aborted) return;
    if (deadlineAt !== undefined) {
      const leftMs = Math.max(0, deadlineAt - options.clock());
      const reason = `Its deadline, ${new Date(deadlineAt).toISOString()}, has passed.`;
      deadlines.set(
        id,
        options.timers.after(leftMs, () => void launcher.cancel(id, { reason }).catch(() => {})),
      );
    }
    const begun = execute({ life, slots, run: id, handler, launcher, isDraining: () => isDraining });
    executions.set(id, begun);
    const { cancel } = runOf(state, id);
    if (cancel !== undefined) void launcher.cancel(id, { reason: cancel.reason }).catch(() => {});
    const conclude = (end: RunRow | Fault): void => {
      executions.delete(id);
      deadlines.get(id)?.cancel();
      deadlines.delete(id);
      const waiter = waiters.get(id);
      waiters.delete(id);
      if (end instanceof Fault) waiter?.reject(end);
      else waiter?.resolve(end);
    };
    void begun.finished.then(conclude);
  };

  const launcher: Launcher = {
    launch: (id, handler) => {
      learn([handler]);
      if (executions.has(id) || isDraining || life.stopped.aborted || isEnded(runOf(state, id))) return;
      const { begun, row: found } = runOf(state, id);
      if (begun) {
        execution(id, handler);
        return;
      }
      if (found.state !== 'pending') return;
      void life
        .write((write) => {
          if (runOf(state, id).row.state !== 'pending') return;
          beginRun(state, id, write);
        })
        .then(() => execution(id, handler))
        .catch(() => {});
    },
    cancel: async (id, { reason, children }) => {
      const run = state.runs.get(id);
      if (run === undefined || isEnded(run)) return;
      await life.write((write) => {
        noteCancel(state, id, { reason, ...(children === undefined ? {} : { children }), write });
        // Nothing of it has ever run, so that there is nothing to clean up.
        if (!runOf(state, id).begun) {
          const asked = runOf(state, id).cancel?.reason ?? reason;
          endRun(state, id, { end: { state: 'cancelled', output: undefined, error: { code: 'CANCELLED', message: asked } }, write });
          waiters.get(id)?.resolve(rowOf(state, runOf(state, id)));
          waiters.delete(id);
        }
      });
      executions.get(id)?.cancel(runOf(state, id).cancel?.reason ?? reason);
    },
  };

  /** What other processes asked for. */
  const look = (): void => {
    if (life.stopped.aborted) return;
    const open = [...state.runs.values()].filter((run) => !isEnded(run));
    for (const { row, cancel } of open) {
      const isAsked = cancel?.noted === false && (executions.has(row.id) || row.state === 'pending');
      if (isAsked) void launcher.cancel(row.id, { reason: cancel.reason }).catch(() => {});
    }
    if (!isServing) return;
    const pending = open.filter((run) => run.row.state === 'pending' && run.cancel === undefined);
    for (const run of pending.toSorted((a, b) => b.row.priority - a.row.priority)) {
      const handler = handlerOf(run);
      if (handler !== undefined) launcher.launch(run.row.id, handler);
    }
  };
  let isLooking = false;
  const lookSoon = (): void => {
    if (isLooking) return;
    isLooking = true;
    queueMicrotask(() => {
      isLooking = false;
      look();
    });
  };
  state.changed.add(lookSoon);

  const assertRunning = (): void => life.stopped.throwIfAborted();

  const recover = async (given: readonly LoopHandler[]): Promise<readonly RunHandle[]> => {
    assertRunning();
    learn(given);
    const isGiven = (run: ReturnType<typeof runOf>): boolean =>
      given.some(({ name, version }) => name === run.row.loop && version === run.row.version);
    const left = [...state.runs.values()].filter((run) => !isEnded(run) && !executions.has(run.row.id) && isGiven(run));
    const ordered = left.toSorted((a, b) => a.row.startedAt - b.row.startedAt || (a.row.id < b.row.id ? -1 : 1));
    const handles = ordered.map((run) => handleOf(run.row.id));
    await life.write((write) => {
      for (const { row, begun } of ordered) {
        if (begun) write.fact('run.resumed', row.id, { generation: row.generation, epoch: life.epoch });
      }
    });
    for (const run of ordered) {
      const handler = handlerOf(run);
      if (handler !== undefined) launcher.launch(run.row.id, handler);
    }
    return handles;
  };

  /** A run whose loop is known here and whose version is not waits for a person. */
  const parkOtherVersions = async (given: readonly LoopHandler[]): Promise<void> => {
    const strange = [...state.runs.values()].filter(
      (run) => !isEnded(run) && handlerOf(run) === undefined && given.some(({ name }) => name === run.row.loop),
    );
    await life.write((write) => {
      for (const run of strange) {
        const { id, loop, version, generation } = run.row;
        const message = `Run ${id} was written by version ${version} of the loop ${loop}, which nobody here knows.`;
        const attention = { code: 'VERSION_UNKNOWN', message };
        putRun(state, { ...run, row: { ...run.row, state: 'needs-attention', attention } });
        write.fact('run.parked', id, { generation, ...attention });
      }
    });
  };

  const dispose = async (): Promise<void> => {
    life.stop(new Fault('ENGINE_DISPOSED', `The engine of ${options.stateHome} was closed.`));
    state.changed.delete(lookSoon);
    for (const timer of deadlines.values()) timer.cancel();
    const over = Promise.withResolvers<void>();
    const timer = options.timers.after(disposeGraceMs, over.resolve);
    await Promise.race([Promise.all([...executions.values()].map(({ finished }) => finished)), over.promise]);
    timer.cancel();
    if (state.owner.epoch === life.epoch) state.owner = { epoch: life.epoch, held: false };
    rejectWaiters();
  };

  const engine: Engine = {
    reader: createMemoryReader(state),
    start: async (handler, input, start) => {
      assertRunning();
      assertName('The run id', start.id);
      assertName('The dedupe key', start.dedupeKey);
      learn([handler]);
      const kept = fromText(toText(input, `The input of run ${start.id}`));
      const id = await life.write((write) => {
        const existing = state.runs.get(start.id) ?? openByDedupeKey(state, start.dedupeKey);
        if (existing !== undefined) return existing.row.id;
        putRun(state, newRun({ ...start, loop: handler.name, version: handler.version, input: kept, now: write.now, state: 'pending' }));
        beginRun(state, start.id, write);
        return start.id;
      });
      if (id === start.id) execution(id, handler);
      return handleOf(id);
    },
    recover,
    serve: async (given) => {
      const found = [...state.runs.values()].filter((run) => !isEnded(run) && !executions.has(run.row.id));
      await recover(given);
      await parkOtherVersions(given);
      isServing = true;
      lookSoon();
      return found.filter((run) => handlerOf(run) !== undefined).map((run) => handleOf(run.row.id));
    },
    reopen: async (handler, id, input) => {
      assertRunning();
      learn([handler]);
      const kept = fromText(toText(input, `The input of run ${id}`));
      const run = assertReopenable(state, id);
      if (run.row.loop !== handler.name) {
        throw new Fault('RUN_OTHER_LOOP', `Run ${id} belongs to the loop ${run.row.loop} and not to ${handler.name}.`);
      }
      await life.write((write) => openAgain(state, id, { handler, input: kept, write }));
      launcher.launch(id, handler);
      return handleOf(id);
    },
    record: async (kind, data) => {
      assertRunning();
      assertDomainKind(kind);
      const kept = inFact(toText(data, `The fact ${kind}`)) ?? null;
      await life.write((write) => write.fact(kind, '', kept));
    },
    cancelAll: async (reason) => {
      const running = [...executions].filter(([id]) => runOf(state, id).row.state === 'running');
      await Promise.allSettled(running.map(([id]) => launcher.cancel(id, { reason })));
      await Promise.all(running.map(([, { finished }]) => finished));
    },
    cancel: (id, asked) => launcher.cancel(id, asked),
    takeSignals: (name) => takeEngineSignals(life, name),
    drain: async ({ graceMs }) => {
      isDraining = true;
      const over = Promise.withResolvers<void>();
      const timer = options.timers.after(graceMs, over.resolve);
      const performing = (): boolean =>
        [...state.steps].some(
          ([run, steps]) =>
            executions.has(run) &&
            [...steps.values()].some(
              (step) => (step.kind === 'step' || step.kind === 'spawn') && step.state === 'intended' && step.plan.nextTryAt === undefined,
            ),
        );
      const idle = new Promise<void>((resolve) => {
        const see = (): void => {
          if (performing()) return;
          state.changed.delete(see);
          resolve();
        };
        state.changed.add(see);
        see();
      });
      await Promise.race([idle, over.promise]);
      timer.cancel();
      await engine[Symbol.asyncDispose]();
    },
    capabilities: () => ({ distributed: false, liveProcessAdoption: true, maxPayload: 262_144, cancelLatencyMs: 0, cron: false }),
    health: () => ({
      ...engine.reader.health(),
      epoch: life.epoch,
      executing: executions.size,
      stopped: life.stopped.aborted ? (life.stopped.reason as Fault) : undefined,
    }),
    ...createControls(life, { launcher, handleOf, handlerOf }),
    [Symbol.asyncDispose]: () => (disposed ??= dispose()),
  };
  return engine;
};
