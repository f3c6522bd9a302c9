// One execution of one run, from the first line of its handler to the fact `run.ended`, over as many generations as it asks for.
import { Defect, Fault } from '../../core/fault.ts';
import { CancelledError } from '../cancelled-error.ts';
import { errorRecord } from '../error-record.ts';
import type { LoopHandler, RunRow } from '../port.ts';
import { createContext } from './context.ts';
import { complete, fail, type Frame, fresh, intend, type Shared, stopReason } from './frame.ts';
import type { Launcher } from './launcher.ts';
import type { Life } from './life.ts';
import { fromText, toText } from './payload.ts';
import { childrenOf, isEnded, rowOf, runOf, stepsOf } from './rows.ts';
import { continueRun, endRun, type RunEnd } from './run-records.ts';
import type { Slots } from './slots.ts';

export interface Execution {
  /** The ended run, or the Fault that stopped the engine before. Never rejects. */
  readonly finished: Promise<RunRow | Fault>;
  /** Aborts the run's signal; the cancel is noted already. */
  cancel(reason: string): void;
}

interface ExecutionOptions {
  readonly life: Life;
  readonly slots: Slots;
  readonly run: string;
  readonly handler: LoopHandler;
  readonly launcher: Launcher;
  readonly isDraining: () => boolean;
}

type HandlerEnd = { readonly threw: false; readonly output: unknown } | { readonly threw: true; readonly error: unknown };

const failed = (error: unknown): RunEnd => ({ state: 'failed', output: undefined, error: errorRecord(error) });
const cancelled = (reason: string): RunEnd => ({ state: 'cancelled', output: undefined, error: { code: 'CANCELLED', message: reason } });

/** How a run ends: by its broken assertion, else by what its handler did, and what a cancelled handler throws is the cancel. */
const decideEnd = (ended: HandlerEnd, facts: { run: string; defect: Defect | undefined; cancelledFor: string | undefined }): RunEnd => {
  if (facts.defect !== undefined) return failed(facts.defect);
  if (ended.threw) {
    if (ended.error instanceof Defect) return failed(ended.error);
    if (facts.cancelledFor !== undefined) return cancelled(facts.cancelledFor);
    return ended.error instanceof CancelledError ? cancelled(ended.error.message) : failed(ended.error);
  }
  try {
    return { state: 'done', output: fromText(toText(ended.output, `The output of run ${facts.run}`)), error: undefined };
  } catch (error) {
    return failed(error);
  }
};

/** @returns the keys of the cleanups that failed */
const cleanUp = async (frame: Frame): Promise<readonly string[]> => {
  const { shared } = frame;
  const unclean: string[] = [];
  for (const { key, effect } of shared.cleanups.toReversed()) {
    const prior = stepsOf(shared.life.state, shared.run).get(key);
    if (prior?.generation === shared.generation && prior.state !== 'intended') {
      if (prior.state === 'failed') unclean.push(key);
      continue;
    }
    const step = await intend(frame, fresh(frame, key, 'cleanup'));
    try {
      await effect();
    } catch (error) {
      const stopped = stopReason(frame);
      if (stopped !== undefined) throw stopped;
      unclean.push(key);
      await fail(frame, step, error).catch(() => shared.life.stopped.throwIfAborted());
      continue;
    }
    await complete(frame, step, undefined);
  }
  return unclean;
};

export const execute = (options: ExecutionOptions): Execution => {
  const { life, slots, run, handler, launcher, isDraining } = options;
  const { state } = life;
  let abort: (reason: Error) => void = () => {};
  let cancelledFor: string | undefined;

  const openShared = (): Shared => {
    const controller = new AbortController();
    abort = (reason) => controller.abort(reason);
    if (life.stopped.aborted) abort(life.stopped.reason as Fault);
    if (cancelledFor !== undefined) abort(new CancelledError(cancelledFor));
    return {
      life,
      slots,
      run,
      generation: runOf(state, run).row.generation,
      used: new Set(),
      inFlight: new Set(),
      cleanups: [],
      controller,
      isDraining,
      closed: false,
      continued: undefined,
      defect: undefined,
    };
  };
  const onStop = (): void => abort(life.stopped.reason as Fault);
  life.stopped.addEventListener('abort', onStop, { once: true });

  const callHandler = async (frame: Frame): Promise<HandlerEnd> => {
    try {
      const { input } = runOf(state, run).row;
      return { threw: false, output: await handler.handle(createContext(frame, launcher), structuredClone(input)) };
    } catch (error) {
      return { threw: true, error };
    }
  };

  /** Nothing that the handler began goes on after it: calls are aborted and waited for, children are cancelled and waited for. */
  const close = async (shared: Shared): Promise<void> => {
    shared.closed = true;
    if (shared.inFlight.size > 0) shared.controller.abort(new CancelledError(`The handler of run ${run} has ended.`));
    await Promise.all(shared.inFlight);
    life.stopped.throwIfAborted();
    const children = runOf(state, run).cancel?.children;
    const open = childrenOf(state, run).filter(
      (child) => !isEnded(child) && !child.detached && (children ?? child.onParentCancel) === 'cancel',
    );
    for (const child of open) await launcher.cancel(child.row.id, { reason: cancelledFor ?? `Run ${run}, which started it, has ended.` });
    while (open.some((child) => !isEnded(runOf(state, child.row.id)))) {
      life.stopped.throwIfAborted();
      await new Promise<void>((resolve) => {
        const done = (): void => {
          state.changed.delete(done);
          life.stopped.removeEventListener('abort', done);
          resolve();
        };
        state.changed.add(done);
        life.stopped.addEventListener('abort', done, { once: true });
      });
    }
  };

  const runToEnd = async (): Promise<RunRow> => {
    for (;;) {
      const shared = openShared();
      life.stopped.throwIfAborted();
      const frame: Frame = { shared, prefix: '', signal: shared.controller.signal };
      const handlerEnd = await callHandler(frame);
      await close(shared);
      const end = decideEnd(handlerEnd, { run, defect: shared.defect, cancelledFor });
      const unclean = await cleanUp(frame);
      const { continued } = shared;
      if (continued !== undefined && shared.defect === undefined && cancelledFor === undefined) {
        await life.write((write) => continueRun(state, run, { input: continued.input, write }));
        continue;
      }
      const error =
        unclean.length === 0 ? undefined : { code: 'CLEANUP_FAILED', message: `The clean-up of run ${run} failed: ${unclean.join(', ')}.` };
      await life.write((write) => endRun(state, run, { end: { ...end, error: end.error ?? error }, write }));
      return rowOf(state, runOf(state, run));
    }
  };

  const finish = async (): Promise<RunRow | Fault> => {
    try {
      return await runToEnd();
    } catch (error) {
      const reason = life.stopped.aborted
        ? (life.stopped.reason as Fault)
        : new Fault('ENGINE_STOPPED', `Run ${run} could not be brought to its end.`, { cause: error });
      life.stop(reason);
      return reason;
    } finally {
      life.stopped.removeEventListener('abort', onStop);
    }
  };

  return {
    finished: finish(),
    cancel: (reason) => {
      cancelledFor ??= reason;
      abort(new CancelledError(cancelledFor));
    },
  };
};
