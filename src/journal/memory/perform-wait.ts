// Waiting for an instant and waiting for a signal. What is waited for is a row beside the run; nothing else is held.
import type { EpochMs } from '../../core/ids.ts';
import { epochMs } from '../../core/ids.ts';
import type { Schema, WaitOptions, WaitResult, WaitRow } from '../port.ts';
import { complete, enter, type Frame, fresh, intend, mayPerform, nextChange, replayed } from './frame.ts';
import type { Life } from './life.ts';
import { fromText } from './payload.ts';
import type { MemoryStep, StoredSignal } from './state.ts';
import { parsed } from './schema.ts';
import { waitMs } from './wait-ms.ts';

const sliceMs = 10_000;

const showWait = (frame: Frame, row: WaitRow): void => {
  const { life, run } = frame.shared;
  const rows = life.state.waits.get(run) ?? new Map<string, WaitRow>();
  life.state.waits.set(run, rows.set(row.key, row));
};

const hideWait = (frame: Frame, key: string): void => void frame.shared.life.state.waits.get(frame.shared.run)?.delete(key);

/** Goes on with the intent of this generation, or writes the first one. @param until the instant, if any */
const beginWait = async (
  frame: Frame,
  wait: { readonly key: string; readonly kind: 'sleep' | 'wait'; readonly prior: MemoryStep | undefined },
  until: number | undefined,
): Promise<MemoryStep> => {
  const { prior, key, kind } = wait;
  if (prior?.state === 'intended' && prior.generation === frame.shared.generation) return prior;
  const plan = until === undefined ? {} : { until };
  return intend(frame, { ...fresh(frame, key, kind), plan }, { details: plan });
};

/** @param untilOf the instant, asked on the first execution only; `longestMs` bounds the wait when the clock is set back */
const performUntil = async (frame: Frame, key: string, untilOf: (now: number) => number): Promise<void> => {
  const { clock } = frame.shared.life.options;
  const prior = enter(frame, key, 'sleep');
  if (replayed(frame, prior) !== undefined) return;
  await mayPerform(frame);
  const asked = untilOf(clock()) - clock();
  const step = await beginWait(frame, { key, kind: 'sleep', prior }, clock() + asked);
  const until = step.plan.until ?? 0;
  showWait(frame, { key: step.key, on: 'timer', until: epochMs(until) });
  try {
    let leftMs = Math.min(asked, until - clock());
    while (leftMs > 0) {
      const nowMs = Math.min(leftMs, sliceMs);
      await waitMs(frame, nowMs);
      frame.signal.throwIfAborted();
      leftMs = Math.min(leftMs - nowMs, until - clock());
    }
    await mayPerform(frame);
  } finally {
    hideWait(frame, step.key);
  }
  await complete(frame, step, undefined);
};

export const performSleep = (frame: Frame, key: string, ms: number): Promise<void> => performUntil(frame, key, (now) => now + ms);

export const performSleepUntil = (frame: Frame, key: string, at: EpochMs): Promise<void> => performUntil(frame, key, () => at);

const untaken = (life: Life, run: string, name: string): StoredSignal | undefined =>
  life.state.signals.find((signal) => signal.run === run && signal.name === name && signal.takenBy === undefined);

const take = (life: Life, signal: StoredSignal, by: string): void => {
  const index = life.state.signals.indexOf(signal);
  life.state.signals[index] = { ...signal, takenBy: by };
};

const fits = (schema: Schema<unknown> | undefined, value: unknown): boolean => {
  try {
    schema?.parse(value);
    return true;
  } catch {
    return false;
  }
};

/** A signal that does not fit is taken out of the line, with a fact that says so. */
const refuse = (frame: Frame, signal: StoredSignal, by: string): Promise<void> => {
  const { life, run } = frame.shared;
  return life.write((write) => {
    take(life, signal, by);
    write.fact('signal.refused', run, { key: by, name: signal.name, seq: signal.seq });
  });
};

/** The first signal that nobody took is taken in the transaction that records it. */
export const performWaitFor = async <T>(frame: Frame, key: string, options: WaitOptions<T>): Promise<WaitResult<T>> => {
  const { life, run } = frame.shared;
  const { signal: name, schema, timeoutMs, describe } = options;
  const checked = (outcome: WaitResult<T>): WaitResult<T> =>
    outcome.kind === 'timeout' || schema === undefined
      ? outcome
      : { ...outcome, value: parsed(schema, outcome.value, `The signal ${name}`) };
  const prior = enter(frame, key, 'wait');
  const known = replayed(frame, prior);
  if (known !== undefined) return checked(known.value as WaitResult<T>);
  await mayPerform(frame);
  const { clock } = life.options;
  const step = await beginWait(frame, { key, kind: 'wait', prior }, timeoutMs === undefined ? undefined : clock() + timeoutMs);
  const { until } = step.plan;
  showWait(frame, {
    key: step.key,
    on: 'signal',
    signal: name,
    ...(until === undefined ? {} : { until: epochMs(until) }),
    ...(describe === undefined ? {} : { describe }),
  });
  const alarm = new AbortController();
  const timer = until === undefined ? undefined : life.options.timers.after(Math.max(0, until - clock()), () => alarm.abort());
  try {
    for (;;) {
      await mayPerform(frame);
      const found = untaken(life, run, name);
      if (found !== undefined) {
        const also = (): void => take(life, found, step.key);
        const value = fromText(found.payload);
        if (!fits(schema, value)) {
          await refuse(frame, found, step.key);
          continue;
        }
        return checked((await complete(frame, step, { kind: 'signal', value, by: found.by, at: found.at }, { also })) as WaitResult<T>);
      }
      if (alarm.signal.aborted) return (await complete(frame, step, { kind: 'timeout' })) as WaitResult<T>;
      await nextChange({ ...frame, signal: AbortSignal.any([frame.signal, alarm.signal]) });
    }
  } finally {
    timer?.cancel();
    hideWait(frame, step.key);
  }
};
