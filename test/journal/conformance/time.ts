// Two kinds of time for a lab.
import { setTimeout as delay } from 'node:timers/promises';
import { epochMs } from '../../../src/core/ids.ts';
import type { Timers } from '../../../src/journal/index.ts';
import type { LabTime } from './lab.ts';

/** Turns of the event loop after which everything has happened that one timer sets off. */
const turns = 6;

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Time that stands still but for `pass`. What is due in between happens in order, each at its instant. */
export const createFakeTime = (startMs = 1_000_000_000_000): LabTime & { readonly timers: Timers } => {
  let now = startMs;
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
      await settle();
      for (let timer = next(); timer !== undefined && timer.at <= end; timer = next()) {
        due.delete(timer);
        now = Math.max(now, timer.at);
        timer.fn();
        await settle();
      }
      now = Math.max(now, end);
      await settle();
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
