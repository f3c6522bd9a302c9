// Two kinds of time for a lab.
import { setTimeout as delay } from 'node:timers/promises';
import { epochMs } from '../../../src/core/ids.ts';
import type { Timers } from '../../../src/journal/index.ts';
import type { LabTime } from './lab.ts';

/** Turns of the event loop without a write after which nothing more happens until the next timer. */
const quietTurns = 8;

export interface FakeTimeOptions {
  /** Counts writes, so that time does not move while they go on. */
  readonly writes?: () => number;
  /** Called whenever everything has come to rest. @returns whether it set something off */
  readonly whenQuiet?: () => Promise<boolean>;
}

const settle = async ({ writes = () => 0, whenQuiet = async () => false }: FakeTimeOptions): Promise<void> => {
  do {
    for (let turn = 0, seen = writes(); turn < quietTurns; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (writes() !== seen) turn = 0;
      seen = writes();
    }
  } while (await whenQuiet());
};

/** Time that stands still but for `pass`. What is due in between happens in order, each at its instant. */
export const createFakeTime = (options: FakeTimeOptions = {}): LabTime & { readonly timers: Timers } => {
  let now = 1_000_000_000_000;
  let skippedMs = 0;
  const due = new Set<{ readonly at: number; readonly fn: () => void }>();
  const next = () => [...due].sort((a, b) => a.at - b.at)[0];
  return {
    now: () => epochMs(now + skippedMs),
    jump: (ms) => void (skippedMs += ms),
    timers: {
      after: (ms, fn) => {
        const timer = { at: now + Math.max(0, ms), fn };
        due.add(timer);
        return { cancel: () => void due.delete(timer) };
      },
    },
    pass: async (ms) => {
      const end = now + ms;
      await settle(options);
      for (let timer = next(); timer !== undefined && timer.at <= end; timer = next()) {
        due.delete(timer);
        now = Math.max(now, timer.at);
        timer.fn();
        await settle(options);
      }
      now = Math.max(now, end);
    },
  };
};

/** The time of this machine. */
export const createRealTime = (): LabTime => {
  let skippedMs = 0;
  return {
    now: () => epochMs(Date.now() + skippedMs),
    pass: async (ms) => delay(ms),
    jump: (ms) => void (skippedMs += ms),
  };
};
