import { Defect, Fault } from '../../core/fault.ts';
import { CancelledError } from '../cancelled-error.ts';
import { errorRecord, faultOfRecord } from '../error-record.ts';
import type { Amounts, RetryPolicy, StepContext, StepOptions } from '../port.ts';
import { charge as chargeRun } from './budget.ts';
import {
  broken,
  complete,
  enter,
  fail,
  type Frame,
  fresh,
  intend,
  mayPerform,
  nextChange,
  park,
  putStep,
  replayed,
  stopReason,
} from './frame.ts';
import { fromText, toText } from './payload.ts';
import { runOf, stepsOf } from './rows.ts';
import { parsed } from './schema.ts';
import type { MemoryStep } from './state.ts';
import { waitMs } from './wait-ms.ts';

interface Request<T> {
  readonly key: string;
  readonly options: StepOptions<T>;
  readonly effect: (context: StepContext) => Promise<T>;
}

/** Waits for all the slots at once. @returns what gives them back */
export const takeSlots = async (frame: Frame, wanted: Amounts | undefined): Promise<() => void> => {
  if (wanted === undefined) return () => {};
  const { slots, life, run } = frame.shared;
  const beyond = slots.beyond(wanted);
  if (beyond !== undefined) throw broken(frame, `A step of run ${run} asks for ${wanted[beyond]} of the slot ${beyond}, which has fewer.`);
  const ticket = slots.ask(wanted, runOf(life.state, run).row.priority);
  try {
    for (;;) {
      await mayPerform(frame);
      const release = slots.take(ticket);
      if (release !== undefined) return release;
      await nextChange(frame);
    }
  } finally {
    slots.drop(ticket);
  }
};

/** A step of unknown outcome under the policy `ask`: the run is parked until a person decided. @returns undefined to perform it again */
export const askPerson = async (frame: Frame, prior: MemoryStep): Promise<{ readonly value: unknown } | undefined> => {
  const { life, run } = frame.shared;
  const message = `Step ${prior.key} of run ${run} was begun and its outcome is not known.`;
  for (;;) {
    const now = stepsOf(life.state, run).get(prior.key);
    if (now?.state === 'done') return { value: fromText(now.outcome) };
    if (now?.plan.again === true) return undefined;
    await park(frame, { code: 'STEP_UNKNOWN', message, step: prior.key });
    await mayPerform(frame);
  }
};

/** Whether a crash, or a cancel, left it open what became of this step. */
const isDoubtful = (prior: MemoryStep | undefined): prior is MemoryStep =>
  prior?.state === 'intended' && prior.plan.nextTryAt === undefined && prior.plan.again !== true;

/** @returns what is known of a doubtful step, undefined when it has to be performed */
const settleDoubt = async <T>(
  frame: Frame,
  prior: MemoryStep,
  { options }: Request<T>,
): Promise<{ readonly value: unknown } | undefined> => {
  if (options.onCrash === 'ask') return askPerson(frame, prior);
  if (typeof options.onCrash !== 'object') return undefined;
  const found = await options.onCrash.reconcile();
  return found === undefined ? undefined : { value: await complete(frame, prior, found, { details: { reconciled: true } }) };
};

type Performed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/** Calls the effect once, within its time. */
const callEffect = async <T>(
  frame: Frame,
  request: Request<T>,
  step: MemoryStep,
  charge: (amounts: Amounts) => void,
): Promise<Performed> => {
  const { options, effect, key } = request;
  const { life, run } = frame.shared;
  const over = new AbortController();
  const context: StepContext = {
    signal: AbortSignal.any([frame.signal, over.signal]),
    performance: step.performed,
    attempt: step.attempts + 1,
    epoch: life.epoch,
    idempotencyKey: `${run}/${frame.prefix}${key}`,
    lastDetails: fromText(step.details),
    charge,
    heartbeat: (details) => {
      const current = stepsOf(life.state, run).get(step.key);
      if (current?.state !== 'intended' || life.stopped.aborted) return;
      putStep(frame, { ...current, details: toText(details, `The heartbeat of step ${step.key}`) });
    },
  };
  const late = (): Fault => new Fault('STEP_TIMED_OUT', `Step ${step.key} of run ${run} took longer than ${options.timeoutMs} ms.`);
  const { promise: timedOut, resolve } = Promise.withResolvers<Performed>();
  const timer =
    options.timeoutMs === undefined
      ? undefined
      : life.options.timers.after(options.timeoutMs, () => {
          const error = late();
          over.abort(error);
          resolve({ ok: false, error });
        });
  const call = async (): Promise<Performed> => {
    try {
      const value = await effect(context);
      return { ok: true, value: parsed(options.schema, value, `The outcome of step ${step.key}`) };
    } catch (error) {
      return { ok: false, error };
    }
  };
  try {
    return await Promise.race([call(), timedOut]);
  } finally {
    timer?.cancel();
  }
};

const retryDelayMs = (retry: RetryPolicy, attempts: number, draw: number): number => {
  const wait = Math.min(retry.baseMs * (retry.factor ?? 2) ** (attempts - 1), retry.capMs ?? 3_600_000);
  return wait + Math.floor((wait / 4) * draw);
};

/** Notes a failed attempt that will be tried again. */
const writeRetry = async (
  frame: Frame,
  step: MemoryStep,
  told: { error: unknown; nextTryAt: number; spent: Amounts },
): Promise<MemoryStep> => {
  const { life, run, generation } = frame.shared;
  const next = {
    ...step,
    attempts: step.attempts + 1,
    plan: { nextTryAt: told.nextTryAt },
    details: stepsOf(life.state, run).get(step.key)?.details,
  };
  await life.write((write) => {
    putStep(frame, next);
    chargeRun(life.state, run, told.spent);
    const error = errorRecord(told.error);
    write.fact('step.retried', run, {
      key: step.key,
      kind: step.kind,
      generation,
      performance: step.performed,
      error,
      nextTryAt: told.nextTryAt,
    });
  });
  return next;
};

/** Performs a step until it has an outcome. */
const performUntilSettled = async <T>(frame: Frame, request: Request<T>): Promise<unknown> => {
  const { options, key } = request;
  const { life, run } = frame.shared;
  let step = { ...fresh(frame, key, 'step'), plan: stepsOf(life.state, run).get(frame.prefix + key)?.plan ?? {} };
  for (;;) {
    if (step.plan.nextTryAt !== undefined) await waitMs(frame, step.plan.nextTryAt - life.options.clock());
    await mayPerform(frame);
    const release = await takeSlots(frame, options.slots);
    let done: Performed;
    const spent: Record<string, number> = {};
    try {
      step = await intend(frame, { ...step, plan: {} });
      const charge = (amounts: Amounts): void => {
        for (const [unit, amount] of Object.entries(amounts)) spent[unit] = (spent[unit] ?? 0) + amount;
      };
      done = await callEffect(frame, request, step, charge);
    } finally {
      release();
    }
    const stopped = stopReason(frame);
    if (stopped !== undefined) throw stopped;
    const also = (): void => chargeRun(life.state, run, spent);
    if (done.ok) return complete(frame, step, done.value, { also });
    if (frame.signal.aborted) throw frame.signal.reason;
    if (done.error instanceof CancelledError) throw done.error;
    const fault = done.error instanceof Fault ? done.error : faultOfRecord(errorRecord(done.error), done.error);
    const { retry } = options;
    const mayRetry =
      retry !== undefined && !(done.error instanceof Defect) && step.attempts < retry.max && (retry.isRetryable?.(fault) ?? true);
    if (!mayRetry) return fail(frame, step, done.error, { also });
    const nextTryAt = life.options.clock() + retryDelayMs(retry, step.attempts + 1, life.options.chance());
    step = await writeRetry(frame, step, { error: done.error, nextTryAt, spent });
  }
};

export const performStep = async <T>(frame: Frame, request: Request<T>): Promise<T> => {
  const { key, options } = request;
  const checked = (value: unknown): T => parsed(options.schema, value, `The outcome of step ${key}`);
  const prior = enter(frame, key, 'step');
  const known = replayed(frame, prior);
  if (known !== undefined) return checked(known.value);
  await mayPerform(frame);
  const settled = isDoubtful(prior) ? await settleDoubt(frame, prior, request) : undefined;
  return checked(settled === undefined ? await performUntilSettled(frame, request) : settled.value);
};
