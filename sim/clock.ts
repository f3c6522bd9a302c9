// Virtual time. Nothing waits: time stands still while promises settle, then leaps to the next timer.
//
//  1. Timers run on uptime, which only goes forward. The wall clock is uptime and an offset, which a person, a sleep or NTP may move.
//  2. A program's timers fire late and together, on multiples of a grain, as on a busy machine. Those of the world fire on time.
//  3. Timers of a program end with it.
import { epochMs, type EpochMs } from '../src/core/ids.ts';
import type { Timers } from '../src/journal/index.ts';

/** Whose timers they are; false: it is gone, and they never fire. */
export type IsAlive = () => boolean;

export interface Clock {
  /** What programs read. */
  readonly wall: () => EpochMs;
  uptimeMs(): number;
  /** Sets the wall clock forward, or back with a negative number. */
  setBy(ms: number): void;
  readonly world: Timers;
  /** Timers of a program. */
  timersOf(isAlive: IsAlive): Timers;
  /** Leaps to the next instant at which something is due and does all of it. @returns false when nothing is due any more */
  leap(): boolean;
}

interface Timer {
  readonly due: number;
  readonly place: number;
  readonly fn: () => void;
  readonly isAlive: IsAlive;
}

const always: IsAlive = () => true;

/** 2026-03-02T08:00:00Z: a Monday morning, so that no test lives near the epoch. */
const startedAt = Date.UTC(2026, 2, 2, 8);

export const createClock = (grainMs: number): Clock => {
  let uptime = 0;
  let offset = startedAt;
  let places = 0;
  let timers: Timer[] = [];

  const add = (timer: Timer): { cancel(): void } => {
    timers.push(timer);
    return {
      cancel: () => {
        const index = timers.indexOf(timer);
        if (index !== -1) timers.splice(index, 1);
      },
    };
  };
  const coarse = (due: number): number => Math.ceil(due / grainMs) * grainMs;
  const after = (ms: number, fn: () => void, owner: { readonly isAlive: IsAlive; readonly grain: boolean }): { cancel(): void } => {
    const due = uptime + Math.max(1, Math.ceil(ms));
    places += 1;
    return add({ due: owner.grain ? coarse(due) : due, place: places, fn, isAlive: owner.isAlive });
  };

  return {
    wall: () => epochMs(uptime + offset),
    uptimeMs: () => uptime,
    setBy: (ms) => {
      offset += ms;
    },
    world: { after: (ms, fn) => after(ms, fn, { isAlive: always, grain: false }) },
    timersOf: (isAlive) => ({ after: (ms, fn) => after(ms, fn, { isAlive, grain: true }) }),
    leap: () => {
      timers = timers.filter(({ isAlive }) => isAlive());
      if (timers.length === 0) return false;
      uptime = timers.reduce((soonest, { due }) => Math.min(soonest, due), Infinity);
      const due = timers.filter((timer) => timer.due <= uptime).sort((a, b) => a.place - b.place);
      for (const timer of due) {
        // One that was due with it may have cancelled it.
        const index = timers.indexOf(timer);
        if (index === -1) continue;
        timers.splice(index, 1);
        if (timer.isAlive()) timer.fn();
      }
      return true;
    },
  };
};
