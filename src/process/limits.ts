// When a program has run too long or been silent too long. Pure; times are monotonic milliseconds.
//
// A tick that comes late by more than `lateMs` means that the shim itself stood still: the machine slept (where the monotonic clock
// counts sleep), or the whole tree was stopped. That time is nobody's silence, so both limits move on by it. Where the monotonic clock
// stands still in sleep (Linux), sleep is seen as `sleptMs` by comparison with the time since boot; the limits need no correction.
import type { ProcessLimits, ProcessSpec } from './port.ts';

export const tickMs = 200;
/** Limits of a program that has run for a while need not be held to a fifth of a second, and a thousand shims tick on one machine. */
const calmTickMs = 1_000;
const calmAfterMs = 10_000;
/**
 * On a machine with more work than processors the looks of a thousand shims would be most of the work. A program that ends with its engine
 * is looked at more often, because only a look tells that the engine is gone.
 */
const longestTickMs = { end: 5_000, outlive: 30_000 } as const;
const usualLoad = 2;
const lateMs = 3_000;
/** Less difference between the two clocks than this is rounding. */
const sleepFloorMs = 2_000;

export interface Watch {
  readonly startedAt: number;
  readonly lastOutputAt: number;
  /** When the next tick is due. */
  readonly nextTickAt: number;
  /** Time that stands for nobody, as far as the monotonic clock saw it. */
  readonly stoppedMs: number;
  /** All time in which the shim stood still, sleep of the machine included. */
  readonly suspendedMs: number;
}

/**
 * How long to the next tick of a program that has run so long.
 * @param load programs that want to run, for each processor (getloadavg(3), one minute)
 */
export const nextTickMs = (ranMs: number, load: number, whenOwnerDies: ProcessSpec['whenOwnerDies']): number =>
  ranMs < calmAfterMs ? tickMs : Math.min(longestTickMs[whenOwnerDies], calmTickMs * Math.max(1, load / usualLoad));

export const startWatch = (now: number): Watch => ({
  startedAt: now,
  lastOutputAt: now,
  nextTickAt: now + tickMs,
  stoppedMs: 0,
  suspendedMs: 0,
});

export const sawOutput = (watch: Watch, now: number): Watch => ({ ...watch, lastOutputAt: now });

export interface Tick {
  readonly now: number;
  /** By how much the clock that counts sleep ran ahead of the monotonic one since the last tick. */
  readonly sleptMs: number;
  /** See `nextTickMs`. */
  readonly load: number;
  readonly whenOwnerDies: ProcessSpec['whenOwnerDies'];
  readonly limits: Pick<ProcessLimits, 'deadlineMs' | 'idleMs'>;
}

/** The watch after one tick, and which limit is over, if any. The deadline goes first. */
export const onTick = (watch: Watch, tick: Tick): { readonly watch: Watch; readonly over: 'deadline' | 'idle' | undefined } => {
  const gapMs = tick.now - watch.nextTickAt;
  const stoppedMs = gapMs > lateMs ? gapMs : 0;
  const lastOutputAt = Math.min(tick.now, watch.lastOutputAt + stoppedMs);
  const { deadlineMs = Infinity, idleMs = Infinity } = tick.limits;
  const limitAt = Math.min(watch.startedAt + watch.stoppedMs + stoppedMs + deadlineMs, lastOutputAt + idleMs);
  const restMs = nextTickMs(tick.now - watch.startedAt, tick.load, tick.whenOwnerDies);
  const next: Watch = {
    ...watch,
    lastOutputAt,
    // A limit is held to the same fifth of a second however seldom the looks are.
    nextTickAt: Math.max(tick.now + tickMs, Math.min(tick.now + restMs, limitAt)),
    stoppedMs: watch.stoppedMs + stoppedMs,
    suspendedMs: watch.suspendedMs + stoppedMs + (tick.sleptMs > sleepFloorMs ? tick.sleptMs : 0),
  };
  if (tick.now - next.startedAt - next.stoppedMs >= deadlineMs) return { watch: next, over: 'deadline' };
  if (tick.now - lastOutputAt >= idleMs) return { watch: next, over: 'idle' };
  return { watch: next, over: undefined };
};
