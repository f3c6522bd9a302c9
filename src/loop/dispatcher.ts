// Starts admitted tasks when their turn comes. What may start is decided by a pure function (dispatch/) over what waits and what runs;
// this file keeps the two lists and performs.
//
//  1. A task of a tick is started at most once, also when the tick is resumed after a crash: a run says which tick opened it.
//  2. Every ended run makes the decision anew; nothing is started after the tick was cancelled or the dispatcher was closed.
//  3. When a run ends because the agent cannot work at all, the rest of its tick stays open for the next one.
//  4. A tick never waits for what only a person or another tick can bring: such a task is left for a later tick, with the reason.
import {
  chooseStarts,
  recentStartsMs,
  type NeedState,
  type QueuedItem,
  type RunningItem,
  type StartLimits,
  type WaitReason,
  waitText,
} from '../dispatch/index.ts';
import { type CommitSha, type EpochMs, type RunId, taskKey } from '../core/ids.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import type { Task } from '../core/task.ts';
import { CancelledError, type LoopHandler, type RunHandle, type RunRow } from '../journal/index.ts';
import { dedupeKeyOf } from './admission.ts';
import type { processesOf } from './attempt.ts';
import type { Breakers } from './breakers.ts';
import { openRun } from './open-run.ts';
import type { Admission, EndedRun, LoopParts, RunOutput, TickEvent } from './port.ts';
import { inputOf, isTaskRun, outputOf } from './run-record.ts';
import { agentNameOf, providerOf } from './provider.ts';
import { noteEnd, parkedOf, quotasOf } from './retries.ts';
import type { Held, TaskClaims } from './task-claims.ts';
import { rememberRun } from './task-memory.ts';

type Plan = Exclude<Admission, { admit: 'skip' }>;

export interface TickWork {
  readonly tick: RunId;
  readonly loop: LoopDefinition;
  readonly prefix: string;
  /** The commit the tasks were found on. */
  readonly base: CommitSha;
  readonly plans: readonly Plan[];
  /** Decides about a task again, as things are when its turn has come. */
  readonly readmit: (task: Task) => Promise<Admission>;
  /** Aborts when the tick is cancelled or the engine stops. */
  readonly signal: AbortSignal;
  /** For a look at the world before a start. */
  readonly processes: ReturnType<typeof processesOf>;
  readonly report: (event: TickEvent) => void;
}

export interface Performed {
  readonly runs: readonly EndedRun[];
  readonly halted: string | undefined;
}

export interface Waiting {
  readonly task: string;
  readonly loop: string;
  readonly why: string;
}

export interface Dispatcher {
  /** Resolves when every task of the tick has ended or was left for a later tick. @throws the signal's reason when it aborts */
  perform(work: TickWork): Promise<Performed>;
  /** Counts a run that goes on from before the engine's start. */
  take(handle: RunHandle): void;
  /** Starts nothing more; what waits is left for a later tick, what runs goes on. */
  close(why: string): void;
}

export interface DispatcherOptions {
  /** Of task runs. */
  readonly handler: LoopHandler;
  readonly limits: StartLimits;
  readonly weights: Readonly<Record<string, number>>;
  readonly breakers: Breakers;
  readonly claims: TaskClaims;
  readonly machine: () => { readonly loadPerCpu: number; readonly freeMemoryBytes: number };
  readonly after: (ms: number, look: () => void) => { cancel(): void };
}

interface Item extends QueuedItem {
  readonly work: TickWork;
  readonly plan: Plan;
  /** The run this tick opened for it in an earlier life. */
  readonly before: RunRow | undefined;
  /** `undefined`: left for a later tick. */
  readonly settle: (ended: EndedRun | undefined) => void;
  readonly fail: (error: unknown) => void;
}

const takenOver = 'its claim was taken over by another engine';

/** Waits that nothing inside this tick can end. */
const isForLater = (reason: WaitReason): boolean =>
  ['parked', 'blocked', 'needs-unknown', 'needs-circle', 'breaker', 'quota'].includes(reason.why);

export const createDispatcher = (parts: LoopParts, options: DispatcherOptions): Dispatcher => {
  const { handler, limits, weights, breakers, claims } = options;
  const queue = new Map<string, Item>();
  const running = new Map<string, RunningItem & { readonly task: string }>();
  let recentStarts: { readonly at: EpochMs; readonly loop: string }[] = [];
  let places = 0;
  let closed: string | undefined;
  let nextLook: { cancel(): void } | undefined;

  const needState = (task: string): NeedState | undefined => {
    if ([...queue.values(), ...running.values()].some((one) => one.task === task)) return 'open';
    const last = parts.reader.runs({ dedupeKey: dedupeKeyOf({ key: taskKey(task) }) }).at(-1);
    if (last === undefined) return undefined;
    if (last.endedAt === undefined) return 'open';
    const { exit, landed } = outputOf(last);
    if (exit.exit === 'nothing-to-do') return 'landed';
    if (exit.exit !== 'goal-met') return 'failed';
    return landed?.landed === 'merge' ? 'landed' : 'delivered';
  };

  const needsNow = (): ReadonlyMap<string, NeedState> => {
    const states = new Map<string, NeedState>();
    for (const key of new Set([...queue.values()].flatMap((item) => item.needs))) {
      const state = needState(key);
      if (state !== undefined) states.set(key, state);
    }
    return states;
  };

  /** Takes an item off the queue, with the reason told. */
  const leave = (item: Item, why: string): void => {
    queue.delete(item.id);
    item.work.report({ event: 'skipped', task: item.plan.task, why });
    item.settle(undefined);
  };

  const pump = (): void => {
    nextLook?.cancel();
    nextLook = undefined;
    if (closed !== undefined || queue.size === 0) return;
    const now = parts.clock();
    recentStarts = recentStarts.filter((start) => start.at > now - recentStartsMs);
    const items = [...queue.values()];
    const decision = chooseStarts(
      {
        queue: items,
        running: [...running.values()],
        limits: {
          ...limits,
          perLoop: { ...limits.perLoop, ...Object.fromEntries(items.map(({ work }) => [work.loop.name, work.loop.parallel])) },
        },
        weights,
        recentStarts,
        breakers: breakers.all(),
        quotas: quotasOf(parts.reader, now),
        needs: needsNow(),
        facts: { answered: new Set(), merged: new Set() },
        resumed: new Set(),
        machine: options.machine(),
      },
      now,
    );
    for (const { item, isProbe } of decision.starts) {
      const chosen = queue.get(item.id);
      if (chosen === undefined) continue;
      queue.delete(item.id);
      recentStarts.push({ at: now, loop: item.loop });
      void begin(chosen, isProbe);
    }
    let hasLeft = false;
    for (const { item, reason } of decision.waits) {
      const waiting = queue.get(item.id);
      if (waiting === undefined) continue;
      const isNeedOutside = reason.why === 'needs' && reason.tasks.every((task) => needState(task) !== 'open');
      if (!isForLater(reason) && !isNeedOutside) continue;
      leave(waiting, waitText(reason));
      hasLeft = true;
    }
    // What was left may be what another one waits for.
    if (hasLeft) pump();
    else if (decision.nextLookAt !== undefined && queue.size > 0)
      nextLook = options.after(Math.max(1, decision.nextLookAt - parts.clock()), pump);
  };

  /** The run this tick opened for the task in an earlier life of it. */
  const openedBefore = (work: TickWork, plan: Plan): RunRow | undefined => {
    const rows = plan.admit === 'reopen' ? [parts.reader.run(plan.run)] : parts.reader.runs({ dedupeKey: dedupeKeyOf(plan.task) });
    return rows.find((row) => row !== undefined && inputOf(row).tick === work.tick);
  };

  /** A landing since discovery may have moved the base and done this task along the way; what others track may have been closed there. */
  const isDoneMeanwhile = async (work: TickWork, plan: Plan, base: CommitSha): Promise<string | undefined> => {
    const { loop, prefix, processes } = work;
    if (base === work.base && plan.task.claim === undefined) return undefined;
    const still = await parts.discoverer.stillOpen({ loop, base, prefix, run: processes, task: plan.task });
    return still.open ? undefined : still.why;
  };

  /** A run that is open and not launched in this process yet is launched by the engine that serves; the same id gives its handle. */
  const handleOf = (row: RunRow): Promise<RunHandle> => parts.engine.start(handler, row.input, { id: row.id, dedupeKey: row.dedupeKey });

  /** @returns why not, where there is nothing to do any more */
  const open = async ({ work, before }: Item, plan: Plan, run: RunId): Promise<RunHandle | string> => {
    const { loop, prefix, tick } = work;
    if (before !== undefined) return await handleOf(before);
    const base = await parts.resolveBase(loop.land.target);
    const done = await isDoneMeanwhile(work, plan, base);
    if (done !== undefined) return done;
    if (work.signal.aborted) throw work.signal.reason;
    return await openRun(parts, handler, { loop, prefix, base, tick, plan, run });
  };

  const finish = async (row: RunRow, loop: string): Promise<EndedRun> => {
    const output = outputOf(row);
    await breakers.ended({ loop, row });
    await noteEnd(parts, row);
    await rememberRun(parts.engine, row, parkedOf(parts.reader, row));
    return { run: row.id, title: inputOf(row).task.title, output };
  };

  const cancelRun = (run: RunId, reason: string): void => void parts.engine.cancel(run, { reason }).catch(() => undefined);

  const begin = async (item: Item, isProbe: boolean): Promise<void> => {
    const { work } = item;
    const { loop, report } = work;
    // A run that goes on from before counts already, under its own name.
    if (item.before !== undefined) running.delete(item.before.id);
    // Counts from the decision on, so that two decisions in a row do not give the same slot twice.
    running.set(item.id, {
      run: item.id,
      loop: item.loop,
      agent: item.agent,
      provider: item.provider,
      ownership: item.ownership,
      task: item.task,
    });
    let cancel = (): void => undefined;
    let claim: Held | undefined;
    try {
      const plan = item.before === undefined ? await work.readmit(item.plan.task) : item.plan;
      if (plan.admit === 'skip') {
        leave(item, plan.why);
        return;
      }
      const run = item.before?.id ?? (plan.admit === 'reopen' ? plan.run : parts.newRunId());
      claim = await claims.hold(plan.task, run, () => cancelRun(run, takenOver));
      if (claim.held === 'no') {
        leave(item, claim.why);
        return;
      }
      const handle = await open(item, plan, run);
      if (typeof handle === 'string') {
        leave(item, handle);
        return;
      }
      if (isProbe) await breakers.probe(loop.name, handle.id);
      report({ event: 'run-started', run: handle.id, task: plan.task, reopened: plan.admit === 'reopen' });
      cancel = () => {
        if (work.signal.reason instanceof CancelledError) cancelRun(handle.id, work.signal.reason.message);
      };
      work.signal.addEventListener('abort', cancel, { once: true });
      const row = await handle.ended;
      const ended = await finish(row, loop.name);
      // A handler that ended without a word (cancelled, failed) could not report its end itself.
      if (row.state !== 'done') report({ event: 'run-ended', ...ended });
      // An agent that cannot log in for one task cannot for the next one either: stop asking, leave the rest open.
      if (ended.output.again === 'next-tick') halt(work, exitWhy(ended.output));
      item.settle(ended);
    } catch (error) {
      item.fail(error);
    } finally {
      if (claim?.held === 'yes') claim.release();
      work.signal.removeEventListener('abort', cancel);
      running.delete(item.id);
      pump();
    }
  };

  const halted = new Map<RunId, string>();
  const halt = (work: TickWork, why: string): void => {
    halted.set(work.tick, why);
    for (const item of queue.values()) if (item.work.tick === work.tick) leave(item, `not started: ${why}`);
  };

  const enqueue = (work: TickWork, plan: Plan): Promise<EndedRun | undefined> =>
    new Promise((resolve, reject) => {
      places += 1;
      const { task } = plan;
      const item: Item = {
        id: `${work.tick}#${task.key}`,
        loop: work.loop.name,
        agent: agentNameOf(work.loop.agent),
        provider: providerOf(work.loop.agent),
        task: task.key,
        ownership: dedupeKeyOf(task),
        priority: task.priority,
        enqueuedAt: parts.clock(),
        place: places,
        needs: task.needs ?? [],
        wake: undefined,
        work,
        plan,
        before: openedBefore(work, plan),
        settle: resolve,
        fail: reject,
      };
      // What was begun has its slot already.
      if (item.before === undefined) queue.set(item.id, item);
      else void begin(item, false);
    });

  return {
    perform: async (work) => {
      const ends = work.plans.map((plan) => enqueue(work, plan));
      const onAbort = (): void => {
        for (const item of queue.values())
          if (item.work === work) {
            queue.delete(item.id);
            item.fail(work.signal.reason);
          }
      };
      work.signal.addEventListener('abort', onAbort, { once: true });
      if (work.signal.aborted) onAbort();
      if (closed === undefined) pump();
      else for (const item of queue.values()) if (item.work === work) leave(item, closed);
      try {
        const settled = await Promise.allSettled(ends);
        if (work.signal.aborted) throw work.signal.reason;
        const failed = settled.find((end) => end.status === 'rejected');
        if (failed !== undefined) throw failed.reason;
        const runs = settled.flatMap((end) => (end.status === 'fulfilled' && end.value !== undefined ? [end.value] : []));
        return { runs, halted: halted.get(work.tick) ?? closed };
      } finally {
        work.signal.removeEventListener('abort', onAbort);
        halted.delete(work.tick);
        pump();
      }
    },
    take: (handle) => {
      const row = parts.reader.run(handle.id);
      if (row === undefined || !isTaskRun(row) || row.endedAt !== undefined) return;
      const { loop, task } = inputOf(row);
      running.set(handle.id, {
        run: handle.id,
        loop: loop.name,
        agent: agentNameOf(loop.agent),
        provider: providerOf(loop.agent),
        ownership: dedupeKeyOf(task),
        task: task.key,
      });
      const claim = claims.hold(task, handle.id, () => cancelRun(handle.id, takenOver));
      void claim.then(
        (held) => held.held === 'no' && cancelRun(handle.id, held.why),
        () => cancelRun(handle.id, 'its claim could not be read'),
      );
      const gone = async (): Promise<void> => {
        running.delete(handle.id);
        pump();
        const held = await claim.catch(() => undefined);
        if (held?.held === 'yes') held.release();
      };
      handle.ended.then(gone, gone).catch(() => undefined);
    },
    close: (why) => {
      closed = why;
      nextLook?.cancel();
      for (const item of queue.values()) leave(item, why);
    },
  };
};

const exitWhy = ({ exit }: RunOutput): string => ('why' in exit ? exit.why : exit.exit);
