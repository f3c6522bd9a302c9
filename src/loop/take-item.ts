// One task from its turn to the end of its run: decided again, claimed, opened, waited for, noted.
import type { CommitSha, RunId } from '../core/ids.ts';
import { CancelledError, type RunHandle, type RunRow } from '../journal/index.ts';
import type { DispatcherOptions, Item, Plan, TickWork } from './dispatch-port.ts';
import { openRun } from './open-run.ts';
import type { EndedRun, LoopParts } from './port.ts';
import { inputOf, outputOf } from './run-record.ts';
import { noteEnd, parkedOf } from './retries.ts';
import type { Held } from './task-claims.ts';
import { rememberRun } from './task-memory.ts';

const takenOver = 'its claim was taken over by another engine';

/** How an item ended: with a run, or left for a later tick with the reason. */
export type Taken = { readonly taken: 'run'; readonly ended: EndedRun } | { readonly taken: 'left'; readonly why: string };

export interface ItemTaker {
  /** @param isProbe the one run that an open breaker lets through */
  take(item: Item, isProbe: boolean): Promise<Taken>;
  /** Follows a run that goes on without a tick to its end. Never rejects. */
  follow(handle: RunHandle, row: RunRow): Promise<void>;
}

export const createItemTaker = (parts: LoopParts, { handler, breakers, claims }: DispatcherOptions): ItemTaker => {
  const cancelRun = (run: RunId, reason: string): void => void parts.engine.cancel(run, { reason }).catch(() => undefined);

  /** A landing since discovery may have moved the base and done this task along the way; what others track may have been closed there. */
  const isDoneMeanwhile = async (work: TickWork, plan: Plan, base: CommitSha): Promise<string | undefined> => {
    const { loop, prefix, processes } = work;
    if (base === work.base && plan.task.claim === undefined) return undefined;
    const still = await parts.discoverer.stillOpen({ loop, base, prefix, run: processes, task: plan.task });
    return still.open ? undefined : still.why;
  };

  /** @returns why not, where there is nothing to do any more */
  const open = async ({ work, before }: Item, plan: Plan, run: RunId): Promise<RunHandle | string> => {
    const { loop, prefix, tick } = work;
    // The engine that serves has launched it; the same id gives its handle.
    if (before !== undefined) return await parts.engine.start(handler, before.input, { id: before.id, dedupeKey: before.dedupeKey });
    const base = await parts.resolveBase(loop.land.target);
    const done = await isDoneMeanwhile(work, plan, base);
    if (done !== undefined) return done;
    if (work.signal.aborted) throw work.signal.reason;
    return await openRun(parts, handler, { loop, prefix, base, tick, plan, run });
  };

  /** What the end of a run means for its loop, its next try and what is known of its task. Looked at twice after a crash, it counts once. */
  const note = async (row: RunRow): Promise<EndedRun> => {
    const { loop, task } = inputOf(row);
    await breakers.ended({ loop: loop.name, row });
    await noteEnd(parts, row);
    await rememberRun(parts.engine, row, parkedOf(parts.reader, row));
    return { run: row.id, title: task.title, output: outputOf(row) };
  };

  /** Waits for a run; a tick that is cancelled meanwhile takes it along. */
  const endOf = async (handle: RunHandle, { signal }: TickWork): Promise<RunRow> => {
    const cancel = (): void => {
      if (signal.reason instanceof CancelledError) cancelRun(handle.id, signal.reason.message);
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await handle.ended;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };

  const work = async (item: Item, plan: Plan, { run, isProbe }: { readonly run: RunId; readonly isProbe: boolean }): Promise<Taken> => {
    const { loop, report } = item.work;
    const handle = await open(item, plan, run);
    if (typeof handle === 'string') return { taken: 'left', why: handle };
    if (isProbe) await breakers.probe(loop.name, handle.id);
    report({ event: 'run-started', run: handle.id, task: plan.task, reopened: plan.admit === 'reopen' });
    const row = await endOf(handle, item.work);
    const ended = await note(row);
    // A handler that ended without a word (cancelled, failed) could not report its end itself.
    if (row.state !== 'done') report({ event: 'run-ended', ...ended });
    return { taken: 'run', ended };
  };

  return {
    take: async (item, isProbe) => {
      const plan = item.before === undefined ? await item.work.readmit(item.plan.task) : item.plan;
      if (plan.admit === 'skip') return { taken: 'left', why: plan.why };
      const run = item.before?.id ?? (plan.admit === 'reopen' ? plan.run : parts.newRunId());
      const claim = await claims.hold(plan.task, run, () => cancelRun(run, takenOver));
      if (claim.held === 'no') return { taken: 'left', why: claim.why };
      try {
        return await work(item, plan, { run, isProbe });
      } finally {
        claim.release();
      }
    },
    follow: async (handle, row) => {
      let claim: Held | undefined;
      try {
        claim = await claims.hold(inputOf(row).task, handle.id, () => cancelRun(handle.id, takenOver));
        if (claim.held === 'no') cancelRun(handle.id, claim.why);
      } catch {
        cancelRun(handle.id, 'its claim could not be read');
      }
      try {
        await note(await handle.ended);
      } catch {
        // The engine has stopped: the next one follows it to its end.
      } finally {
        if (claim?.held === 'yes') claim.release();
      }
    },
  };
};
