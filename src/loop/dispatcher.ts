// Starts admitted tasks when their turn comes. What may start is decided by a pure function (dispatch/) over what waits and what runs;
// this file keeps the two lists and performs.
//
//  1. A task of a tick is started at most once, also when the tick is resumed after a crash: a run says which tick opened it.
//  2. Every ended run makes the decision anew; nothing is started after the tick was cancelled or the dispatcher was closed.
//  3. When a run ends because the agent cannot work at all, the rest of its tick stays open for the next one.
//  4. A tick never waits for what only a person or another tick can bring: such a task is left for a later tick, with the reason.
import { chooseStarts, type NeedState, recentStartsMs, type RunningItem, type WaitReason, waitText } from '../dispatch/index.ts';
import type { EpochMs, RunId } from '../core/ids.ts';
import type { RunRow } from '../journal/index.ts';
import { dedupeKeyOf } from './admission.ts';
import type { Dispatcher, DispatcherOptions, Item, Plan, TickWork } from './dispatch-port.ts';
import { needStateOf } from './need-states.ts';
import type { EndedRun, LoopParts, RunOutput } from './port.ts';
import { inputOf, isTaskRun } from './run-record.ts';
import { agentNameOf, providerOf } from './provider.ts';
import { quotasOf } from './retries.ts';
import { createItemTaker } from './take-item.ts';

/** Waits that nothing inside this tick can end. */
const isForLater = (reason: WaitReason): boolean =>
  ['parked', 'blocked', 'needs-unknown', 'needs-circle', 'breaker', 'quota'].includes(reason.why);

export const createDispatcher = (parts: LoopParts, options: DispatcherOptions): Dispatcher => {
  const { limits, weights, breakers } = options;
  const taker = createItemTaker(parts, options);
  const queue = new Map<string, Item>();
  const running = new Map<string, RunningItem & { readonly task: string }>();
  let recentStarts: { readonly at: EpochMs; readonly loop: string }[] = [];
  let places = 0;
  let closed: string | undefined;
  let nextLook: { cancel(): void } | undefined;

  const isInSight = (task: string): boolean => [...queue.values(), ...running.values()].some((one) => one.task === task);

  const needsNow = (): ReadonlyMap<string, NeedState> => {
    const states = new Map<string, NeedState>();
    for (const { loop, needs } of queue.values())
      for (const key of needs) {
        const state = isInSight(key) ? 'open' : needStateOf(parts.reader, { loop, task: key });
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
      // What nobody here works on will not land within this tick.
      const isNeedOutside = reason.why === 'needs' && !reason.tasks.some(isInSight);
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

  const begin = async (item: Item, isProbe: boolean): Promise<void> => {
    const { agent, loop, ownership, provider, task, work } = item;
    // A run that goes on from before counts already, under its own name.
    if (item.before !== undefined) running.delete(item.before.id);
    // Counts from the decision on, so that two decisions in a row do not give the same slot twice.
    running.set(item.id, { run: item.id, loop, agent, provider, ownership, task });
    try {
      const taken = await taker.take(item, isProbe);
      if (taken.taken === 'left') leave(item, taken.why);
      else {
        // An agent that cannot log in for one task cannot for the next one either: stop asking, leave the rest open.
        if (taken.ended.output.again === 'next-tick') halt(work, exitWhy(taken.ended.output));
        item.settle(taken.ended);
      }
    } catch (error) {
      item.fail(error);
    } finally {
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
      void taker.follow(handle, row).finally(() => {
        running.delete(handle.id);
        pump();
      });
    },
    close: (why) => {
      closed = why;
      nextLook?.cancel();
      for (const item of queue.values()) leave(item, why);
    },
  };
};

const exitWhy = ({ exit }: RunOutput): string => ('why' in exit ? exit.why : exit.exit);
