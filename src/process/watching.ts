// The shim's clockwork: every tick it looks at the limits, at the owner, and for a request to end.
import { availableParallelism, loadavg, uptime } from 'node:os';

import { isAlive } from './identity.ts';
import { readControl } from './job-files.ts';
import type { StoredSpec } from './job-files.ts';
import { onTick, sawOutput, startWatch, tickMs } from './limits.ts';
import type { Watch } from './limits.ts';
import type { ProcessEnd } from './port.ts';
import { holdBack } from './priority.ts';
import type { Lineage } from './sweep.ts';

/** How often descendants are remembered. */
const lineageMs = 1_000;

export interface Watching {
  readonly sawOutput: () => void;
  /** Ends the clockwork and tells what it saw. */
  readonly stop: () => Watch;
}

/** How far the clock that counts sleep of the machine is ahead of the monotonic one. */
const sleepClockMs = (): number => uptime() * 1_000 - performance.now();

/** Programs that want to run, for each processor. */
const load = (): number => (loadavg()[0] ?? 0) / availableParallelism();

/** Calls `ask` with the reason as soon as there is one to end the program; maybe again at later ticks. */
export const startWatching = (job: {
  readonly jobDir: string;
  readonly spec: StoredSpec;
  /** Of the program. */
  readonly pid: number;
  readonly lineage: Lineage;
  readonly ask: (reason: ProcessEnd) => void;
}): Watching => {
  const { jobDir, spec, pid, lineage, ask } = job;
  let watch = startWatch(performance.now());
  let slept = sleepClockMs();
  let lookedAt = -Infinity;
  let isHeldBack = holdBack(pid);
  const tick = (): void => {
    const sleptNow = sleepClockMs();
    const now = performance.now();
    const { watch: next, over } = onTick(watch, { now, sleptMs: sleptNow - slept, load: load(), ...spec });
    watch = next;
    slept = sleptNow;
    // A timer is a millisecond early or late.
    if (now - lookedAt >= lineageMs - 50) {
      lookedAt = now;
      lineage.look();
      isHeldBack ||= holdBack(pid);
    }
    const control = readControl(jobDir);
    if (control !== undefined) ask(control);
    if (over !== undefined) ask(over);
    if (spec.whenOwnerDies === 'end' && !isAlive(spec.owner)) ask('owner-died');
    timer = setTimeout(tick, watch.nextTickAt - now);
  };
  let timer = setTimeout(tick, tickMs);
  return {
    sawOutput: () => {
      watch = sawOutput(watch, performance.now());
    },
    stop: () => {
      clearTimeout(timer);
      return watch;
    },
  };
};
