// Runs that a run starts. A child is a run of its own; under its parent's key stands that it was started, and later how it ended.
import { Fault } from '../../core/fault.ts';
import { runId } from '../../core/ids.ts';
import { CancelledError } from '../cancelled-error.ts';
import type { ChildHandle, ChildOptions, LoopHandler } from '../port.ts';
import { complete, enter, fail, type Frame, fresh, intend, mayPerform, nextChange, replayed } from './frame.ts';
import type { Launcher } from './launcher.ts';
import type { Write } from './life.ts';
import { fromText, toText } from './payload.ts';
import { isEnded, putRun, runOf } from './rows.ts';
import { newRun, openAgain } from './run-records.ts';

interface ChildRequest {
  readonly key: string;
  readonly handler: LoopHandler;
  readonly input: unknown;
  readonly options: ChildOptions;
}

/** Waits until a run has ended. */
const ended = async (frame: Frame, id: string): Promise<ReturnType<typeof runOf>['row']> => {
  const { state } = frame.shared.life;
  for (;;) {
    frame.shared.life.stopped.throwIfAborted();
    const child = runOf(state, id);
    if (isEnded(child)) return child.row;
    frame.signal.throwIfAborted();
    await nextChange(frame);
  }
};

const failureOf = (row: ReturnType<typeof runOf>['row']): Error => {
  const why = row.error?.message ?? '';
  if (row.state === 'cancelled') return new CancelledError(why);
  return new Fault('CHILD_FAILED', `Run ${row.id} failed: ${why}`, { data: { run: row.id, error: row.error } });
};

/** The child's row as it is first written. */
const createChild = (frame: Frame, id: string, { handler, input, options, key }: ChildRequest): void => {
  const { life, run } = frame.shared;
  const { row } = runOf(life.state, run);
  const text = toText(input, `The input of run ${id}`);
  const child = newRun({
    id: runId(id),
    dedupeKey: id,
    loop: handler.name,
    version: handler.version,
    input: fromText(text),
    priority: options.priority ?? row.priority,
    labels: options.labels ?? {},
    budget: options.budget ?? {},
    now: life.options.clock(),
    state: 'pending',
  });
  putRun(life.state, {
    ...child,
    row: { ...child.row, parent: { run: row.id, key: `${frame.prefix}${key}` } },
    onParentCancel: options.onParentCancel ?? 'cancel',
    detached: options.detached ?? false,
  });
};

export const performChild = async <O>(frame: Frame, launcher: Launcher, request: ChildRequest): Promise<ChildHandle<O>> => {
  const { key, handler } = request;
  const { life, run, generation } = frame.shared;
  const prior = enter(frame, key, 'child');
  const id = `${run}/${frame.prefix}${key}`;
  let step = prior;
  const goesOn = step !== undefined && (step.state === 'done' || step.generation === generation);
  if (step === undefined || !goesOn) {
    await mayPerform(frame);
    toText(request.input, `The input of run ${id}`);
    const also = (write: Write): void => {
      const known = life.state.runs.get(id);
      if (known === undefined) createChild(frame, id, request);
      else if (isEnded(known) && known.row.state !== 'done')
        openAgain(life.state, id, { handler, input: fromText(toText(request.input, id)), write });
    };
    step = await intend(frame, fresh(frame, key, 'child'), { details: { run: id }, also });
  }
  const begun = step;
  if (!isEnded(runOf(life.state, id))) launcher.launch(id, handler);
  return {
    id: runId(id),
    cancel: (reason) => launcher.cancel(id, { reason }),
    result: async () => {
      const known = replayed(frame, begun);
      if (known !== undefined) return known.value as O;
      const row = await ended(frame, id);
      if (row.state !== 'done')
        return fail(frame, begun, failureOf(row)).catch((error: unknown) =>
          Promise.reject(row.state === 'cancelled' ? failureOf(row) : error),
        );
      return (await complete(frame, begun, row.output)) as O;
    },
  };
};
