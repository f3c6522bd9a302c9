// One breaker a loop: the same failure again and again, over different tasks, is no failure of the tasks.
//
//   closed --(n identical failures in a row)--> open --(cool-down over, one run let through)--> half-open
//   half-open --(it fails again)--> open, for longer        any state --(a run gets through, or a person says so)--> closed
import { epochMs, type EpochMs } from '../core/ids.ts';
import type { Failure, FailureClass } from './failure.ts';

/** The failure a breaker counts. */
export interface BreakerCause {
  readonly fingerprint: string;
  readonly class: FailureClass;
  /** One sentence for people. */
  readonly message: string;
}

/** Plain JSON, one a loop. */
export type Breaker =
  | { readonly state: 'closed'; readonly cause: BreakerCause | undefined; readonly tasks: readonly string[] }
  | { readonly state: 'open'; readonly cause: BreakerCause; readonly openedAt: EpochMs; readonly probeAt: EpochMs; readonly opens: number }
  | {
      readonly state: 'half-open';
      readonly cause: BreakerCause;
      readonly openedAt: EpochMs;
      /** The run that was let through. */
      readonly probe: string;
      readonly opens: number;
    };

/** What a person is told, once for each opening. */
export interface BreakerNotice {
  readonly loop: string;
  readonly class: FailureClass;
  readonly fingerprint: string;
  readonly text: string;
  readonly probeAt: EpochMs;
}

export const closedBreaker: Breaker = { state: 'closed', cause: undefined, tasks: [] };

/** So many tasks in a row with the identical failure open the breaker. */
export const breakerThresholds: Readonly<Record<FailureClass, number>> = {
  task: 3,
  check: 3,
  agent: 3,
  provider: 2,
  machine: 2,
  configuration: 2,
};

const firstCoolDownMs = 5 * 60_000;
const longestCoolDownMs = 60 * 60_000;

const probeTime = (failure: Failure, opens: number, now: EpochMs): EpochMs => {
  const coolDownMs = Math.min(firstCoolDownMs * 2 ** (opens - 1), longestCoolDownMs);
  // Where the provider said when, asking earlier is no use.
  return epochMs(Math.max(now + coolDownMs, failure.resetAt ?? 0));
};

const noticeOf = (loop: string, cause: BreakerCause, probeAt: EpochMs): BreakerNotice => ({
  loop,
  class: cause.class,
  fingerprint: cause.fingerprint,
  probeAt,
  text: `Loop ${loop} has stopped starting tasks, because they fail alike (${cause.class}): ${cause.message} One task is tried again later; nothing is lost.`,
});

export interface BreakerChange {
  readonly breaker: Breaker;
  /** Set when a person is to be told. */
  readonly notice: BreakerNotice | undefined;
}

const unchanged = (breaker: Breaker): BreakerChange => ({ breaker, notice: undefined });

/**
 * What a failed run does to its loop's breaker. Pure. A probe that fails with the same failure opens it again without another notice.
 * A failure that comes in from a run begun before the opening changes nothing.
 * @param failed `run` as given to `beginProbe`; `task` tells one task from another
 */
export const breakerAfterFailure = (
  breaker: Breaker,
  failed: { readonly loop: string; readonly task: string; readonly run: string; readonly failure: Failure },
  now: EpochMs,
): BreakerChange => {
  const { loop, task, failure } = failed;
  const cause: BreakerCause = { fingerprint: failure.fingerprint, class: failure.class, message: failure.message };
  const open = (opens: number): Extract<Breaker, { state: 'open' }> => ({
    state: 'open',
    cause,
    openedAt: now,
    probeAt: probeTime(failure, opens, now),
    opens,
  });

  if (breaker.state === 'open') return unchanged(breaker);
  if (breaker.state === 'half-open') {
    if (failed.run !== breaker.probe) return unchanged(breaker);
    const isSame = breaker.cause.fingerprint === cause.fingerprint;
    // Another failure of the task itself: what the breaker was open for is over.
    if (!isSame && failure.class === 'task') return unchanged({ state: 'closed', cause, tasks: [task] });
    const again = open(isSame ? breaker.opens + 1 : 1);
    return { breaker: again, notice: isSame ? undefined : noticeOf(loop, cause, again.probeAt) };
  }
  const isSame = breaker.cause?.fingerprint === cause.fingerprint;
  const tasks = isSame ? [...breaker.tasks.filter((one) => one !== task), task] : [task];
  if (tasks.length < breakerThresholds[failure.class]) return unchanged({ state: 'closed', cause, tasks });
  const opened = open(1);
  return { breaker: opened, notice: noticeOf(loop, cause, opened.probeAt) };
};

/** A run that got as far as its verdict, or a person who says that it is mended: the breaker closes. Pure. */
export const breakerAfterSuccess = (): Breaker => closedBreaker;

/** Marks the run that is let through. Pure. A breaker that is not open stays as it is. */
export const beginProbe = (breaker: Breaker, run: string): Breaker =>
  breaker.state === 'open'
    ? { state: 'half-open', cause: breaker.cause, openedAt: breaker.openedAt, probe: run, opens: breaker.opens }
    : breaker;

/** A probe that ended without saying anything (cancelled, interrupted): another may be let through at once. Pure. */
export const abandonProbe = (breaker: Breaker, run: string, now: EpochMs): Breaker =>
  breaker.state === 'half-open' && breaker.probe === run
    ? { state: 'open', cause: breaker.cause, openedAt: breaker.openedAt, probeAt: now, opens: breaker.opens }
    : breaker;

export type BreakerGate =
  | { readonly gate: 'free' }
  /** Something is wrong already, though not often enough: one run at a time, so that a broken login costs two calls and not a queue of them. */
  | { readonly gate: 'one-at-a-time'; readonly cause: BreakerCause }
  | { readonly gate: 'probe'; readonly cause: BreakerCause }
  | { readonly gate: 'shut'; readonly cause: BreakerCause; readonly until: EpochMs | undefined };

/** What a breaker lets through now. Pure. */
export const breakerGate = (breaker: Breaker | undefined, now: EpochMs): BreakerGate => {
  if (breaker === undefined) return { gate: 'free' };
  if (breaker.state === 'half-open') return { gate: 'shut', cause: breaker.cause, until: undefined };
  if (breaker.state === 'open')
    return breaker.probeAt <= now
      ? { gate: 'probe', cause: breaker.cause }
      : { gate: 'shut', cause: breaker.cause, until: breaker.probeAt };
  const { cause } = breaker;
  return cause === undefined || cause.class === 'task' || cause.class === 'check' ? { gate: 'free' } : { gate: 'one-at-a-time', cause };
};
