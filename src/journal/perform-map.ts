// One function over many items, so many at a time. The results are recorded when every item is well: until then a replay runs the function
// again, and what is recorded inside comes back at once.
import { Defect, Fault } from '../core/fault.ts';
import { type Branches, createBranches, forgetWaits, type MakeContext } from './branch.ts';
import { errorRecord } from './error-record.ts';
import type { MapOptions, MapResult, RunContext } from './port.ts';
import { freshStep, replayed, type Scope } from './scope.ts';

interface MapRequest<I, O> {
  /** The whole key. */
  readonly key: string;
  readonly items: readonly I[];
  readonly options: MapOptions<I>;
  readonly fn: (scoped: RunContext, item: I) => Promise<O>;
}

const keysOf = <I, O>({ key, items, options }: MapRequest<I, O>): readonly string[] => {
  const keys = items.map((item) => options.itemKey(item));
  if (new Set(keys).size !== keys.length) throw new Defect(`Two items of the map ${JSON.stringify(key)} have the same key.`);
  if (!(options.concurrency >= 1)) throw new Defect(`The map ${JSON.stringify(key)} has a concurrency of ${options.concurrency}.`);
  return keys;
};

/** Why what an item threw ends the whole map: the run was cancelled, the engine stopped, or an assertion broke. */
const endsAll = (scope: Scope, error: unknown): boolean =>
  scope.stopReason() !== undefined || scope.signal.aborted || error instanceof Defect;

/** Brings every item to its end. @throws the first failure, when that stops the others */
const runItems = async <I, O>(
  scope: Scope,
  branches: Branches,
  { request, keys }: { readonly request: MapRequest<I, O>; readonly keys: readonly string[] },
): Promise<readonly MapResult<O>[]> => {
  const { items, options, fn } = request;
  const results: MapResult<O>[] = [];
  let next = 0;
  let failure: { readonly error: unknown } | undefined;

  const runOne = async (index: number): Promise<void> => {
    const key = keys[index] ?? '';
    try {
      results[index] = { key, ok: true, value: await fn(branches.context(key), items[index] as I) };
    } catch (error) {
      if (options.onError === 'stop' || endsAll(scope, error)) {
        failure ??= { error };
        branches.giveUp(`Another item of the map ${request.key} failed.`);
        return;
      }
      const { code, message } = errorRecord(error);
      results[index] = { key, ok: false, error: { code, message } };
    }
  };
  const lane = async (): Promise<void> => {
    for (;;) {
      if (next >= items.length || failure !== undefined) return;
      const index = next;
      next += 1;
      await runOne(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.concurrency, items.length) }, () => lane()));
  if (failure !== undefined) throw failure.error;
  return results;
};

export const performMap = async <I, O>(
  scope: Scope,
  makeContext: MakeContext,
  request: MapRequest<I, O>,
): Promise<readonly MapResult<O>[]> => {
  const { key } = request;
  const known = replayed(scope, scope.enter(key, 'map'));
  if (known !== undefined) return known.value as readonly MapResult<O>[];
  const keys = keysOf(request);
  const branches = createBranches(scope, makeContext, request.key);
  try {
    const results = await runItems(scope, branches, { request, keys });
    if (!results.every(({ ok }) => ok)) return results;
    const step = freshStep(key, 'map', scope.run.generation);
    return (await scope.perform(() => scope.complete(step, results))) as readonly MapResult<O>[];
  } catch (error) {
    if (scope.stopReason() === undefined && branches.signal.aborted) await scope.store.write(forgetWaits(scope, key));
    throw error instanceof Error ? error : new Fault('THROWN', String(error));
  }
};
