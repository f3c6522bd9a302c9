// One execution of one run: what is recorded, what may still be performed, and what is in flight.
//
//  1. A recorded outcome is returned whatever has happened since; only new effects are refused after a cancel or the handler's end.
//  2. The intent is on disk before the effect starts (L5).
//  3. An effect that comes to its end is recorded even after a cancel, because it happened; one that was broken off is not.
//  4. When the engine stops, nothing is recorded of what was broken off: it looks like a crash.
//  5. A parked run (paused, or waiting for a person) begins no new effect: the calls of its handler never settle. Effects that are being
//     performed come to their end and are recorded; then the execution is dropped, and a later one replays.
import type { Defect, Fault } from '../core/fault.ts';
import type { Transaction } from './append.ts';
import type { CancelledError } from './cancelled-error.ts';
import { type ErrorRecord, faultOfRecord } from './error-record.ts';
import { decodeJson } from './json.ts';
import { resolvePayload } from './payload.ts';
import type { Amounts, Attention, RunRow } from './port.ts';
import type { StepKind, StepRow } from './rows.ts';
import type { Limits } from './run-records.ts';
import type { Store } from './store.ts';

/** What is written in the transaction of an outcome or a failure. */
export interface Beside {
  /** More members of the fact. */
  readonly details?: object;
  readonly charge?: Amounts;
  readonly also?: (transaction: Transaction) => void;
}

export interface Scope {
  readonly run: RunRow;
  readonly limits: Limits;
  readonly store: Store;
  readonly steps: Map<string, StepRow>;
  readonly signal: AbortSignal;
  /** The signal of the run; that of a branch may abort earlier. */
  readonly runSignal: AbortSignal;
  /** Aborts when the run is parked. */
  readonly suspended: AbortSignal;
  /** Aborts what is in flight. The first reason stands. */
  abort(reason: CancelledError | Fault): void;
  /** Registers a call under its key. @returns what is recorded under it. @throws Defect for a key used twice or for another kind */
  enter(key: string, kind: StepKind): StepRow | undefined;
  /** Keeps a call in sight until it ends, so that the run does not end before it. */
  operation<T>(body: () => Promise<T>): Promise<T>;
  /** @throws why no new effect may begin: engine stopped, run cancelled, handler ended */
  assertMayPerform(): void;
  /** @throws why nothing may be written any more */
  assertOpen(): void;
  /** One effect from its intent to its outcome. @throws as `assertMayPerform`; never settles, and begins nothing, in a parked run */
  perform<T>(body: () => Promise<T>): Promise<T>;
  /** Writes the intent of the next performance. */
  intend(
    key: string,
    kind: StepKind,
    options?: { readonly plan?: StepRow['plan']; readonly details?: object; readonly also?: (transaction: Transaction) => void },
  ): Promise<StepRow>;
  /** Writes the outcome, or a failure when it cannot be written as JSON. @returns what a replay will see */
  complete(step: StepRow, outcome: unknown, beside?: Beside): Promise<unknown>;
  /** Writes an outcome that is found in the transaction itself. @returns undefined when there is none yet, and nothing is written */
  decide(
    step: StepRow,
    decision: (transaction: Transaction) => (Omit<Beside, 'charge'> & { readonly outcome: unknown }) | undefined,
  ): Promise<{ readonly value: unknown } | undefined>;
  /** Counts what a performance had spent that was broken off: the money is gone, whatever becomes of the step. */
  charge(key: string, amounts: Amounts): Promise<void>;
  /** Writes the failure. @throws Fault as a replay will see it */
  fail(step: StepRow, thrown: unknown, beside?: Beside): Promise<never>;
  /** Writes a failure that is tried again. @param step holds the error and when. @returns the step as it waits */
  retry(step: StepRow & { readonly error: ErrorRecord }, charge: Amounts | undefined): Promise<StepRow>;
  /** The name of a step in the world: `<run>/<key>`, and another one in each history that `continueAs` began. */
  nameOf(key: string): string;
  /** Parks the run until a person goes on with it. Never settles. */
  park(attention: Attention): Promise<never>;
  /** Begins nothing more. @returns when all that was being performed has ended; at once when the run is ending anyway */
  suspend(): Promise<void>;
  /** Why the engine stopped; undefined while it runs. */
  stopReason(): Fault | undefined;
  /** The first broken assertion, or the limit that ends the run: it fails with it even when the handler caught it. */
  doom(): Defect | Fault | undefined;
  /** The handler has ended: no call is taken any more; what is in flight is waited for. */
  close(): Promise<void>;
}

/** A step that nothing is recorded of. */
export const freshStep = (key: string, kind: StepKind, generation: number): StepRow => ({
  key,
  kind,
  state: 'intended',
  generation,
  performed: 0,
  plan: {},
  outcome: undefined,
  error: undefined,
  details: undefined,
  nextTryAt: undefined,
});

/**
 * The same execution as one of its branches sees it.
 * @param signal aborts with the run's signal, or earlier
 */
export const branchScope = (scope: Scope, signal: AbortSignal): Scope => {
  const assertMayPerform = (): void => {
    scope.assertMayPerform();
    if (signal.aborted) throw signal.reason;
  };
  return {
    ...scope,
    signal,
    assertMayPerform,
    perform: (body) =>
      scope.perform(async () => {
        assertMayPerform();
        return body();
      }),
  };
};

/**
 * What a recorded step gives back.
 * @returns undefined when the effect has to be performed
 * @throws Fault as recorded, in the generation that recorded it; a later generation performs the step again
 */
export const replayed = (scope: Scope, prior: StepRow | undefined): { readonly value: unknown } | undefined => {
  if (prior?.state === 'done') return { value: resolvePayload(scope.store.blobs, decodeJson(prior.outcome)) };
  if (prior?.state === 'failed' && prior.generation === scope.run.generation && prior.error !== undefined) throw faultOfRecord(prior.error);
  return undefined;
};
