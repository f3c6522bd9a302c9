// Ending a program, step by step: ask its group, wait the grace, kill the group. What left the group is swept afterwards (sweep.ts).
import { setTimeout as sleep } from 'node:timers/promises';

import type { Exit } from './launch.ts';

/** A killed process that is not gone by then is stuck in the kernel (a dead network disk). */
const killedBoundMs = 5_000;

const signalGroup = (group: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-group, signal);
  } catch {
    // Nobody is left in the group.
  }
};

/**
 * The promise's value, or `undefined` when `ms` are over first. Leaves no timer behind.
 * @param ms most milliseconds to wait
 */
export const within = async <Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> => {
  const stop = new AbortController();
  try {
    return await Promise.race([promise, sleep(ms, undefined, { signal: stop.signal })]);
  } finally {
    stop.abort();
  }
};

/**
 * Ends a running program. The group number is safe to signal as long as the program has not been reaped, which is when `exited` settles.
 * @returns how it ended, or `undefined` if even a kill did not end it
 */
export const climb = async (options: {
  readonly group: number;
  readonly exited: Promise<Exit>;
  readonly askSignal: NodeJS.Signals;
  readonly graceMs: number;
}): Promise<Exit | undefined> => {
  signalGroup(options.group, options.askSignal);
  const asked = await within(options.exited, options.graceMs);
  if (asked !== undefined) return asked;
  signalGroup(options.group, 'SIGKILL');
  return within(options.exited, killedBoundMs);
};
