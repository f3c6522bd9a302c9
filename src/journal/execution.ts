// One execution of one run, from the first line of its handler to the fact `run.ended`.
import { Defect, Fault } from '../core/fault.ts';
import type { EpochMs } from '../core/ids.ts';
import type { ProcessHost } from '../process/index.ts';
import { noteCancel } from './cancel-requests.ts';
import { CancelledError } from './cancelled-error.ts';
import { type Cleanup, createContext } from './context.ts';
import { errorRecord } from './error-record.ts';
import { encodeJson } from './json.ts';
import type { LoopHandler, RunRow } from './port.ts';
import { endRun, type RunEnd, type RunOpening } from './run-records.ts';
import { createScope, type Scope } from './scope.ts';
import type { Store } from './store.ts';

export interface ExecutionTools {
  readonly store: Store;
  readonly stateHome: string;
  readonly processes: ProcessHost;
  readonly clock: () => EpochMs;
  readonly chance: () => number;
  /** Aborts, with a Fault as its reason, when the engine is being disposed of. */
  readonly stopping: AbortSignal;
}

export interface Execution {
  readonly run: RunRow;
  /** Resolves with the ended run, or with the Fault that stopped the engine before the run ended. Never rejects. */
  readonly finished: Promise<RunRow | Fault>;
  /** Notes the cancel as a fact, then aborts the run's signal. Later reasons are ignored. */
  cancel(reason: string): Promise<void>;
}

type HandlerEnd = { readonly threw: false; readonly output: unknown } | { readonly threw: true; readonly error: unknown };

const failed = (error: unknown): RunEnd => ({ state: 'failed', output: undefined, error: errorRecord(error) });
const cancelled = (reason: string): RunEnd => ({ state: 'cancelled', output: undefined, error: { code: 'CANCELLED', message: reason } });

/**
 * How a run ends. A broken assertion fails it always; a handler that came to its end is done, even when the cancel came too late to
 * stop it; whatever a cancelled handler throws is the cancel.
 */
const decideEnd = (
  ended: HandlerEnd,
  facts: { readonly run: string; readonly defect: Defect | undefined; readonly cancelledFor: string | undefined },
): RunEnd => {
  if (facts.defect !== undefined) return failed(facts.defect);
  if (ended.threw) {
    if (ended.error instanceof Defect) return failed(ended.error);
    if (facts.cancelledFor !== undefined) return cancelled(facts.cancelledFor);
    return ended.error instanceof CancelledError ? cancelled(ended.error.message) : failed(ended.error);
  }
  try {
    return { state: 'done', output: encodeJson(ended.output, `The output of run ${facts.run}`), error: undefined };
  } catch (error) {
    return failed(error);
  }
};

/** Runs the cleanups of an execution, last in first out. @returns the keys of those that failed */
const cleanUp = async (scope: Scope, cleanups: readonly Cleanup[]): Promise<readonly string[]> => {
  const unclean: string[] = [];
  for (const { key, effect } of cleanups.toReversed()) {
    const prior = scope.steps.get(key);
    const isOfThisGeneration = prior?.generation === scope.run.generation;
    if (isOfThisGeneration && prior?.state === 'done') continue;
    if (isOfThisGeneration && prior?.state === 'failed') {
      unclean.push(key);
      continue;
    }
    const step = await scope.intend(key, 'cleanup');
    try {
      await effect();
    } catch (error) {
      const stopped = scope.stopReason();
      if (stopped !== undefined) throw stopped;
      unclean.push(key);
      await scope.fail(step, error).catch((fault: unknown) => {
        if (scope.stopReason() !== undefined) throw fault;
      });
      continue;
    }
    await scope.complete(step, undefined);
  }
  return unclean;
};

export const execute = (tools: ExecutionTools, opening: RunOpening, handler: LoopHandler): Execution => {
  const { store } = tools;
  const { run } = opening;
  const scope = createScope({ ...opening, store, stopping: tools.stopping });
  let cancelledFor: string | undefined;
  const onStop = (): void => {
    const reason = scope.stopReason();
    if (reason !== undefined) scope.abort(reason);
  };
  for (const signal of [store.stopped, tools.stopping]) signal.addEventListener('abort', onStop, { once: true });
  onStop();

  const cancel = async (reason: string): Promise<void> => {
    if (cancelledFor !== undefined) return;
    cancelledFor = reason;
    const request = { run: run.id, generation: run.generation, reason };
    await store.write((transaction) => noteCancel(transaction, request));
    scope.abort(new CancelledError(reason));
  };

  const callHandler = async (cleanups: Cleanup[]): Promise<HandlerEnd> => {
    try {
      return { threw: false, output: await handler.handle(createContext(scope, tools, cleanups), run.input) };
    } catch (error) {
      return { threw: true, error };
    }
  };

  const runToEnd = async (): Promise<RunRow> => {
    const stoppedBefore = scope.stopReason();
    if (stoppedBefore !== undefined) throw stoppedBefore;
    if (opening.cancelAsked !== undefined) await cancel(opening.cancelAsked);
    const cleanups: Cleanup[] = [];
    const handlerEnd = await callHandler(cleanups);
    await scope.close();
    const stopped = scope.stopReason();
    if (stopped !== undefined) throw stopped;
    const end = decideEnd(handlerEnd, { run: run.id, defect: scope.defect(), cancelledFor });
    const unclean = await cleanUp(scope, cleanups);
    const error =
      unclean.length === 0
        ? undefined
        : { code: 'CLEANUP_FAILED', message: `The clean-up of run ${run.id} failed: ${unclean.join(', ')}.` };
    return store.write((transaction) => endRun(transaction, run, { ...end, error: end.error ?? error }));
  };

  const finish = async (): Promise<RunRow | Fault> => {
    try {
      return await runToEnd();
    } catch (error) {
      const reason = scope.stopReason() ?? new Fault('ENGINE_STOPPED', `Run ${run.id} could not be brought to its end.`, { cause: error });
      // An error that is not a stop is a mistake of the engine: it must not go on as if the run were in order.
      store.stop(reason);
      return reason;
    } finally {
      for (const signal of [store.stopped, tools.stopping]) signal.removeEventListener('abort', onStop);
    }
  };

  return { run, cancel, finished: finish() };
};
