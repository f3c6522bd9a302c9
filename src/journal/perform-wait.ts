// Waiting for a signal. The intent and the row in `waits` are on disk before anything is taken; a signal is taken in the transaction that
// records it as the outcome, so that it is taken exactly once. A signal that is there when the time is up still counts.
import { epochMs } from '../core/ids.ts';
import { canonicalJson } from './chain.ts';
import { checkSchema } from './check-schema.ts';
import { errorRecord } from './error-record.ts';
import { resolvePayload } from './payload.ts';
import type { SignalRow, WaitOptions, WaitResult } from './port.ts';
import type { StepRow } from './rows.ts';
import { replayed, type Scope } from './scope.ts';
import { oldestSignal, takeSignal } from './signal-records.ts';
import type { SignalBell } from './signal-bell.ts';
import { endWait, writeWait } from './wait-records.ts';
import { type Clockwork, waitUntil } from './wait-until.ts';

export interface WaitTools extends Clockwork {
  readonly bell: SignalBell;
}

interface WaitRequest<T> {
  readonly key: string;
  readonly options: WaitOptions<T>;
}

type Taken = { readonly value: unknown } | 'refused' | 'none';

const beginWait = async <T>(scope: Scope, tools: WaitTools, { key, options }: WaitRequest<T>): Promise<StepRow> => {
  const { signal, timeoutMs, describe } = options;
  const until = timeoutMs === undefined ? undefined : epochMs(tools.clock() + timeoutMs);
  const timed = until === undefined ? {} : { until };
  const described = describe === undefined ? {} : { describe };
  return scope.perform(() =>
    scope.intend(key, 'wait', {
      plan: timed,
      details: { signal, ...timed, ...described },
      also: (transaction) => writeWait(transaction, scope.run.id, { key, on: 'signal', signal, ...timed, ...described }),
    }),
  );
};

/** Notes a signal whose payload does not fit, so that the wait sees the next one. */
const refuse = async (scope: Scope, key: string, refused: { readonly signal: SignalRow; readonly error: unknown }): Promise<void> => {
  const { seq, name, by } = refused.signal;
  const data = canonicalJson({ key, name, seq, by, error: errorRecord(refused.error) });
  await scope.store.write((transaction) => {
    if (takeSignal(transaction, seq, `refused by ${key}`)) transaction.fact({ kind: 'signal.refused', run: scope.run.id, data });
  });
};

/** Takes the oldest signal that fits. */
const takeOne = async <T>(scope: Scope, step: StepRow, options: WaitOptions<T>): Promise<Taken> => {
  const { run, store } = scope;
  const found = oldestSignal(store, { run: run.id, name: options.signal });
  if (found === undefined) return 'none';
  try {
    checkSchema(options.schema, resolvePayload(store.blobs, found.payload), `The signal ${options.signal}`);
  } catch (error) {
    await scope.perform(() => refuse(scope, step.key, { signal: found, error }));
    return 'refused';
  }
  const taken = await scope.perform(() =>
    scope.decide(step, (transaction) => {
      if (!takeSignal(transaction, found.seq, step.key)) return undefined;
      endWait(transaction, run.id, step.key);
      return { outcome: { kind: 'signal', value: found.payload, by: found.by, at: found.at } };
    }),
  );
  // Another wait of this run was quicker: there may be a next one.
  return taken ?? 'refused';
};

/** @returns false when a signal was stored at the last moment */
const endByTime = async <T>(scope: Scope, step: StepRow, options: WaitOptions<T>): Promise<boolean> => {
  const ended = await scope.perform(() =>
    scope.decide(step, (transaction) => {
      if (oldestSignal(transaction, { run: scope.run.id, name: options.signal }) !== undefined) return undefined;
      endWait(transaction, scope.run.id, step.key);
      return { outcome: { kind: 'timeout' } };
    }),
  );
  return ended !== undefined;
};

/** @param value as recorded: a large payload is a reference still */
const resultOf = <T>(scope: Scope, options: WaitOptions<T>, value: unknown): WaitResult<T> => {
  const result = value as WaitResult<unknown>;
  if (result.kind === 'timeout') return result;
  return {
    ...result,
    value: checkSchema(options.schema, resolvePayload(scope.store.blobs, result.value), `The recorded signal ${options.signal}`),
  };
};

export const performWait = async <T>(scope: Scope, tools: WaitTools, request: WaitRequest<T>): Promise<WaitResult<T>> => {
  const { key, options } = request;
  const prior = scope.enter(key, 'wait');
  const known = replayed(scope, prior);
  if (known !== undefined) return resultOf(scope, options, known.value);
  const goesOn = prior?.state === 'intended' && prior.generation === scope.run.generation;
  const step = goesOn ? prior : await beginWait(scope, tools, request);
  const { until } = step.plan;
  let isTimeUp = false;
  for (;;) {
    // Heard from before the look, so that a signal stored in between is not slept through.
    const ring = tools.bell.listen(scope.run.id);
    try {
      const taken = await takeOne(scope, step, options);
      if (taken === 'refused') continue;
      if (taken !== 'none') return resultOf(scope, options, taken.value);
      if (isTimeUp && (await endByTime(scope, step, options))) return { kind: 'timeout' };
      isTimeUp = await waitUntil(scope, tools, { until: until ?? Infinity, mostMs: options.timeoutMs ?? Infinity, wake: ring.rung });
    } finally {
      ring.close();
    }
  }
};
