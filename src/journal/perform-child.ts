// A child is a run of its own. Its row is written with the intent of the step, so that there is never one without the other; its end is
// recorded under the step when the parent asks for the result, so that a replay sees the same whatever becomes of the child later.
import { Fault } from '../core/fault.ts';
import { runId } from '../core/ids.ts';
import { CancelledError } from './cancelled-error.ts';
import { assertAmounts } from './budget-records.ts';
import type { ErrorRecord } from './error-record.ts';
import { decodeJson } from './json.ts';
import { encodePayload, resolvePayload } from './payload.ts';
import { assertName } from './names.ts';
import { never } from './never.ts';
import type { ChildHandle, ChildOptions, LoopHandler, RunRow } from './port.ts';
import type { StepRow } from './rows.ts';
import { ensureChild } from './child-records.ts';
import type { Scope } from './scope.ts';

/** What the engine does for the children of a run. */
export interface Kin {
  /** Remembers the handler, and begins the child or goes on with it where nobody executes it yet. */
  begin(child: string, handler: LoopHandler): void;
  /** Settles when the run has ended. Rejects when the engine stops. */
  ended(run: string): Promise<RunRow>;
  cancel(run: string, reason: string): Promise<void>;
}

interface ChildRequest {
  readonly key: string;
  readonly handler: LoopHandler;
  readonly input: unknown;
  readonly options: ChildOptions;
}

interface ChildEnd {
  readonly state: 'done' | 'failed' | 'cancelled';
  readonly output?: unknown;
  readonly error?: ErrorRecord;
}

const endOf = ({ state, output, error }: RunRow): ChildEnd => ({
  state: state === 'done' || state === 'cancelled' ? state : 'failed',
  ...(output === undefined ? {} : { output }),
  ...(error === undefined ? {} : { error }),
});

const unwrap = (id: string, end: ChildEnd): unknown => {
  if (end.state === 'done') return end.output;
  if (end.state === 'cancelled') throw new CancelledError(end.error?.message ?? `Run ${id} was cancelled.`);
  throw new Fault('CHILD_FAILED', `Run ${id} failed: ${end.error?.message ?? 'for no reason given'}`, {
    data: { run: id, code: end.error?.code },
  });
};

/** An end that stands: a child that did not end well is tried again by the next generation of its parent. */
const recordedEnd = (scope: Scope, prior: StepRow | undefined): ChildEnd | undefined => {
  if (prior?.state !== 'done') return undefined;
  const end = resolvePayload(scope.store.blobs, decodeJson(prior.outcome)) as ChildEnd;
  return end.state === 'done' || prior.generation === scope.run.generation ? end : undefined;
};

const beginChild = async (scope: Scope, kin: Kin, request: ChildRequest & { readonly id: string }): Promise<StepRow> => {
  const { key, handler, input, options, id } = request;
  assertName('The run id', id);
  if (options.budget !== undefined) assertAmounts(options.budget);
  const text = encodePayload(scope.store.blobs, input, `The input of run ${id}`);
  const step = await scope.perform(() =>
    scope.intend(key, 'child', {
      details: { child: id, loop: handler.name, version: handler.version, detached: options.detached === true },
      also: (transaction) => ensureChild(transaction, { id: runId(id), parent: scope.run, key, handler, input: text, options }),
    }),
  );
  kin.begin(id, handler);
  return step;
};

/** A child of a branch that is given up is cancelled with it; one of a cancelled run was cancelled in the transaction of the cancel. */
const cancelWithBranch = (scope: Scope, kin: Kin, { id, options }: { readonly id: string; readonly options: ChildOptions }): void => {
  if (options.detached === true || options.onParentCancel === 'leave') return;
  const onAbort = (): void => {
    if (scope.runSignal.aborted || !(scope.signal.reason instanceof CancelledError)) return;
    // A store that stops meanwhile has stopped the child already.
    kin.cancel(id, scope.signal.reason.message).catch(() => {});
  };
  scope.signal.addEventListener('abort', onAbort, { once: true });
};

/** Waits for the child, at most until the run or its branch may not go on. */
const awaitChild = async (scope: Scope, kin: Kin, id: string): Promise<RunRow> => {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const stop = (): void => resolve(undefined);
  const signals = [scope.signal, scope.suspended];
  for (const signal of signals) signal.addEventListener('abort', stop, { once: true });
  if (signals.some((signal) => signal.aborted)) stop();
  try {
    const run = await Promise.race([kin.ended(id), over]);
    if (run !== undefined) return run;
    if (scope.suspended.aborted) return await never();
    scope.assertMayPerform();
    throw new CancelledError(`Run ${scope.run.id} was cancelled.`);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', stop);
  }
};

export const performChild = async <O>(scope: Scope, kin: Kin, request: ChildRequest): Promise<ChildHandle<O>> => {
  const { key, handler, options } = request;
  const prior = scope.enter(key, 'child');
  const id = runId(scope.nameOf(key));
  const known = recordedEnd(scope, prior);
  const isBegun = known !== undefined || (prior?.state === 'intended' && prior.generation === scope.run.generation);
  const step = isBegun && prior !== undefined ? prior : await beginChild(scope, kin, { ...request, id });
  if (known === undefined && isBegun) kin.begin(id, handler);
  cancelWithBranch(scope, kin, { id, options });

  const settle = async (): Promise<O> => {
    if (known !== undefined) return unwrap(id, known) as O;
    const end = endOf(await awaitChild(scope, kin, id));
    await scope.perform(() => scope.complete(step, end));
    return unwrap(id, end) as O;
  };
  let settled: Promise<O> | undefined;
  return {
    id,
    result: () => (settled ??= scope.operation(settle)),
    cancel: (reason) => scope.operation(() => scope.perform(() => kin.cancel(id, reason))),
  };
};
