// One execution of one run: from the first line of its handler to the fact `run.ended`, to a new history (`continueAs`), or until the run
// is parked. A parked execution is dropped as it stands: its handler hears nothing, and a later execution replays.
import { Fault } from '../core/fault.ts';
import { noteCancel } from './cancel-requests.ts';
import { CancelledError } from './cancelled-error.ts';
import { cleanUp } from './clean-up.ts';
import { type ContextTools, createContext, type Leavings } from './context.ts';
import { decideEnd, type HandlerEnd } from './decide-end.ts';
import { createEmitter } from './emitter.ts';
import { resolvePayload } from './payload.ts';
import type { LoopHandler, RunRow } from './port.ts';
import { continueRun, endRun, type RunOpening } from './run-records.ts';
import { createScope } from './create-scope.ts';
import type { Store } from './store.ts';

export interface ExecutionTools extends ContextTools {
  readonly store: Store;
  /** Aborts, with a Fault as its reason, when the engine is being disposed of. */
  readonly stopping: AbortSignal;
  /** Calls back when `stopping` or the store's own end aborts. @returns what ends that */
  readonly onStop: (act: () => void) => () => void;
  /** Cancels the children that end with their parent and waits for those that are executed here. */
  readonly endChildren: (run: RunRow, cancelledFor: string | undefined) => Promise<void>;
}

/** What became of an execution. */
export type ExecutionEnd =
  | { readonly end: 'ended'; readonly run: RunRow }
  /** Parked, or begun anew: the row says what is next. */
  | { readonly end: 'left' }
  /** The engine stopped before the run ended. */
  | { readonly end: 'stopped'; readonly fault: Fault };

export interface Execution {
  readonly run: RunRow;
  /** Never rejects. */
  readonly finished: Promise<ExecutionEnd>;
  /** Notes the cancel as a fact, then aborts the run's signal. Later reasons are ignored. */
  cancel(reason: string, children?: 'cancel' | 'leave'): Promise<void>;
  /** Begins no new effect; the execution is left when what is being performed has ended. */
  suspend(): void;
}

type HandlerLeft = HandlerEnd | { readonly continued: string | undefined };

export const execute = (tools: ExecutionTools, opening: RunOpening, handler: LoopHandler): Execution => {
  const { store } = tools;
  const { run } = opening;
  const scope = createScope({ ...opening, store, stopping: tools.stopping, clock: tools.clock, chance: tools.chance });
  let cancelledFor: string | undefined;
  const onStop = (): void => {
    const reason = scope.stopReason();
    if (reason !== undefined) scope.abort(reason);
  };
  const forgetStop = tools.onStop(onStop);
  onStop();

  const cancel = async (reason: string, children: 'cancel' | 'leave' = 'cancel'): Promise<void> => {
    if (cancelledFor !== undefined) return;
    cancelledFor = reason;
    const request = { run: run.id, generation: run.generation, reason, children };
    await store.write((transaction) => noteCancel(transaction, request));
    scope.abort(new CancelledError(reason));
  };

  const { promise: left, resolve: leave } = Promise.withResolvers<'left'>();
  scope.suspended.addEventListener('abort', () => void scope.suspend().then(() => leave('left')), { once: true });

  const callHandler = async (leavings: Omit<Leavings, 'continueWith'>): Promise<HandlerLeft> => {
    const { promise: continued, resolve } = Promise.withResolvers<HandlerLeft>();
    const context = createContext(scope, tools, { ...leavings, continueWith: (input) => resolve({ continued: input }) });
    const handled = async (): Promise<HandlerLeft> => {
      try {
        return { threw: false, output: await handler.handle(context, resolvePayload(store.blobs, run.input)) };
      } catch (error) {
        return { threw: true, error };
      }
    };
    return Promise.race([handled(), continued]);
  };

  const runToEnd = async (): Promise<ExecutionEnd> => {
    const stoppedBefore = scope.stopReason();
    if (stoppedBefore !== undefined) throw stoppedBefore;
    if (opening.cancelAsked !== undefined) await cancel(opening.cancelAsked);
    const leavings = { cleanups: [], view: { ...run.view }, emit: createEmitter(scope) };
    const handlerLeft = await Promise.race([callHandler(leavings), left]);
    if (handlerLeft === 'left' || scope.suspended.aborted) {
      await left;
      return { end: 'left' };
    }
    await scope.close();
    const stopped = scope.stopReason();
    if (stopped !== undefined) throw stopped;
    await tools.endChildren(run, cancelledFor);
    const unclean = await cleanUp(scope, leavings.cleanups);
    if ('continued' in handlerLeft && cancelledFor === undefined && scope.doom() === undefined) {
      await store.write((transaction) => continueRun(transaction, run, handlerLeft.continued));
      return { end: 'left' };
    }
    const handlerEnd: HandlerEnd = 'continued' in handlerLeft ? { threw: true, error: new CancelledError('continued') } : handlerLeft;
    const end = decideEnd(store.blobs, handlerEnd, { run: run.id, doom: scope.doom(), cancelledFor });
    const error =
      unclean.length === 0
        ? undefined
        : { code: 'CLEANUP_FAILED', message: `The clean-up of run ${run.id} failed: ${unclean.join(', ')}.` };
    return { end: 'ended', run: await store.write((transaction) => endRun(transaction, run, { ...end, error: end.error ?? error })) };
  };

  const finish = async (): Promise<ExecutionEnd> => {
    try {
      return await runToEnd();
    } catch (error) {
      const fault = scope.stopReason() ?? new Fault('ENGINE_STOPPED', `Run ${run.id} could not be brought to its end.`, { cause: error });
      // An error that is not a stop is a mistake of the engine: it must not go on as if the run were in order.
      store.stop(fault);
      return { end: 'stopped', fault };
    } finally {
      forgetStop();
    }
  };

  return { run, cancel, suspend: () => void scope.suspend(), finished: finish() };
};
