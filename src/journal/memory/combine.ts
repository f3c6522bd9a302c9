// Branches of one handler: `map` over items, `race` between branches. Their keys carry the prefix of their branch, so that order and
// number of branches never decide which outcome is whose.
import { CancelledError } from '../cancelled-error.ts';
import { errorRecord } from '../error-record.ts';
import type { MapOptions, MapResult, RunContext } from '../port.ts';
import { broken, complete, enter, fail, type Frame, fresh, replayed, stopReason } from './frame.ts';

export type MakeContext = (frame: Frame) => RunContext;

/** A branch is aborted with its parent, and by itself. */
const branchOf = (frame: Frame, prefix: string, stop: AbortSignal): Frame => ({
  shared: frame.shared,
  prefix: `${frame.prefix}${prefix}`,
  signal: AbortSignal.any([frame.signal, stop]),
});

interface MapRequest<I, O> {
  readonly key: string;
  readonly items: readonly I[];
  readonly options: MapOptions<I>;
  readonly fn: (scoped: RunContext, item: I) => Promise<O>;
}

export const performMap = async <I, O>(frame: Frame, make: MakeContext, request: MapRequest<I, O>): Promise<readonly MapResult<O>[]> => {
  const { key, items, options, fn } = request;
  const known = replayed(frame, enter(frame, key, 'map'));
  if (known !== undefined) return known.value as readonly MapResult<O>[];
  const keys = items.map((item) => options.itemKey(item));
  if (new Set(keys).size < keys.length) throw broken(frame, `Two items of the map ${JSON.stringify(key)} have the same key.`);
  const stop = new AbortController();
  const results: MapResult<O>[] = [];
  let failure: { readonly error: unknown } | undefined;
  let next = 0;

  const perform = async (index: number, item: I): Promise<void> => {
    const itemKey = keys[index] ?? '';
    const scoped = branchOf(frame, `${key}/${itemKey}/`, stop.signal);
    try {
      results[index] = { key: itemKey, ok: true, value: await fn(make(scoped), item) };
    } catch (error) {
      if (frame.signal.aborted || stopReason(frame) !== undefined) throw error;
      const { code, message } = errorRecord(error);
      results[index] = { key: itemKey, ok: false, error: { code, message } };
      if (options.onError === 'collect') return;
      failure ??= { error };
      stop.abort(new CancelledError(`Item ${itemKey} of ${key} failed.`));
    }
  };
  const lane = async (): Promise<void> => {
    while (next < items.length && !stop.signal.aborted) {
      const index = next;
      next += 1;
      await perform(index, items[index] as I);
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(options.concurrency, items.length) }, lane));
  for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason;
  if (failure !== undefined) throw failure.error;
  return (await complete(frame, fresh(frame, key, 'map'), results)) as readonly MapResult<O>[];
};

interface RaceRequest<T> {
  readonly key: string;
  readonly branches: Readonly<Record<string, (scoped: RunContext) => Promise<T>>>;
}

type BranchEnd<T> = { readonly winner: string } & (
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown }
);

export const performRace = async <T>(
  frame: Frame,
  make: MakeContext,
  { key, branches }: RaceRequest<T>,
): Promise<{ readonly winner: string; readonly value: T }> => {
  const known = replayed(frame, enter(frame, key, 'race'));
  if (known !== undefined) return known.value as { winner: string; value: T };
  const stop = new AbortController();
  const run = async ([winner, branch]: [string, (scoped: RunContext) => Promise<T>]): Promise<BranchEnd<T>> => {
    try {
      return { winner, ok: true, value: await branch(make(branchOf(frame, `${key}/${winner}/`, stop.signal))) };
    } catch (error) {
      return { winner, ok: false, error };
    }
  };
  const running = Object.entries(branches).map((entry) => run(entry));
  if (running.length === 0) throw broken(frame, `The race ${JSON.stringify(key)} has no branch.`);
  const first = await Promise.race(running);
  // Recorded before the losers hear of it, so that none of them can win after a crash.
  try {
    const stopped = stopReason(frame);
    if (stopped !== undefined) throw stopped;
    if (!first.ok && frame.signal.aborted) throw frame.signal.reason;
    const step = fresh(frame, key, 'race');
    if (!first.ok) return await fail(frame, step, first.error);
    return (await complete(frame, step, { winner: first.winner, value: first.value })) as { winner: string; value: T };
  } finally {
    stop.abort(new CancelledError(`${first.winner} has won the race ${key}.`));
    await Promise.all(running);
  }
};
