import { setTimeout as delay } from 'node:timers/promises';
import { openCycle, type ComposeOptions, type Cycle } from './compose.ts';

/**
 * Opens the engine for one command and closes it whatever happens. The first Ctrl-C (or SIGTERM, SIGHUP) ends agents and checks in
 * order and keeps everything; a second one leaves at once, and the next `gyre run` settles what is left.
 */
export const withCycle = async <T>(options: ComposeOptions, use: (cycle: Cycle) => Promise<T>): Promise<T> => {
  const cycle = await openCycle(options);
  let asked = 0;
  const onSignal = (): void => {
    asked += 1;
    if (asked > 1) process.exit(130);
    process.stderr.write('Stopping: agents and checks are being ended, work is kept. Once more to leave at once.\n');
    void cycle.interrupt();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await use(cycle);
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    await Promise.race([cycle[Symbol.asyncDispose](), delay(10_000, undefined, { ref: false })]);
  }
};
