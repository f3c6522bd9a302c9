import { epochMs, type EpochMs } from '../core/ids.ts';
import type { MachineReading, StartLimits, WaitReason } from './port.ts';

/** How far back `StartView.recentStarts` must reach: pace looks one minute back, fair sharing this far. */
export const recentStartsMs = 60 * 60_000;
const minuteMs = 60_000;
/** A machine under pressure is looked at again after so long. */
export const pressureLookMs = 15_000;

/**
 * When the next start is due by the pace: at once when that is not after `now`. Pure.
 * A start that seems to lie in the future (the clock was set back) counts as made now, so that nobody waits for the old clock.
 */
export const paceDueAt = (starts: readonly EpochMs[], limits: StartLimits, now: EpochMs): EpochMs => {
  const past = starts.map((at) => Math.min(at, now)).toSorted((a, b) => a - b);
  const last = past.at(-1);
  const byGap = last === undefined ? now : last + limits.gapMs;
  const { startsPerMinute } = limits;
  const limiting = startsPerMinute === undefined ? undefined : past.at(-startsPerMinute);
  const byMinute = limiting === undefined ? now : limiting + minuteMs;
  return epochMs(Math.max(byGap, byMinute, now));
};

/**
 * Why the machine takes no more now; `undefined` when it does. Pure.
 * Load comes from anybody, so where no run of ours is open one is let through: a busy machine slows us down and does not stop us. Memory
 * does not give way like that: what is started without memory ends others.
 */
export const pressureOf = (machine: MachineReading | undefined, limits: StartLimits, openRuns: number): WaitReason | undefined => {
  if (machine === undefined) return undefined;
  const { loadPerCpuMax, freeMemoryBytesMin } = limits;
  if (freeMemoryBytesMin !== undefined && machine.freeMemoryBytes < freeMemoryBytesMin)
    return { why: 'memory', freeBytes: machine.freeMemoryBytes, limit: freeMemoryBytesMin };
  if (loadPerCpuMax !== undefined && machine.loadPerCpu > loadPerCpuMax && openRuns > 0)
    return { why: 'load', loadPerCpu: machine.loadPerCpu, limit: loadPerCpuMax };
  return undefined;
};
