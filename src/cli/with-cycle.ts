import { setTimeout as delay } from 'node:timers/promises';
import type { Cycle } from './compose.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Uses the engine for one command and closes it whatever happens. The first Ctrl-C (or SIGTERM, SIGHUP) ends agents and checks in
 * order and keeps everything; a second one leaves at once, and the next engine settles what is left.
 */
export const withCycle = async <T>(cycle: Cycle, use: () => Promise<T>): Promise<T> => {
  let asked = 0;
  const onSignal = (): void => {
    asked += 1;
    if (asked > 1) process.exit(130);
    process.stderr.write('Stopping: agents and checks are being ended, work is kept. Once more to leave at once.\n');
    void cycle.interrupt();
  };
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await use();
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    await Promise.race([cycle[Symbol.asyncDispose](), delay(10_000, undefined, { ref: false })]);
  }
};
