// The shim's clockwork: every tick it looks at the limits, at the owner, and for a request to end.
import { uptime } from 'node:os';

import { isAlive } from './identity.ts';
import { readControl } from './job-files.ts';
import type { StoredSpec } from './job-files.ts';
import { onTick, sawOutput, startWatch, tickMs } from './limits.ts';
import type { Watch } from './limits.ts';
import type { ProcessEnd } from './port.ts';
import type { Lineage } from './sweep.ts';

/** How often, in ticks, descendants are remembered. */
const lineageTicks = 5;

export interface Watching {
  readonly sawOutput: () => void;
  /** Ends the clockwork and tells what it saw. */
  readonly stop: () => Watch;
}

/** How far the clock that counts sleep of the machine is ahead of the monotonic one. */
const sleepClockMs = (): number => uptime() * 1_000 - performance.now();

/** Calls `ask` with the reason as soon as there is one to end the program; maybe again at later ticks. */
export const startWatching = (job: {
  readonly jobDir: string;
  readonly spec: StoredSpec;
  readonly lineage: Lineage;
  readonly ask: (reason: ProcessEnd) => void;
}): Watching => {
  const { jobDir, spec, lineage, ask } = job;
  let watch = startWatch(performance.now());
  let slept = sleepClockMs();
  let ticks = 0;
  const tick = (): void => {
    const sleptNow = sleepClockMs();
    const { watch: next, over } = onTick(watch, { now: performance.now(), sleptMs: sleptNow - slept, limits: spec.limits });
    watch = next;
    slept = sleptNow;
    if (ticks % lineageTicks === 0) lineage.look();
    ticks += 1;
    const control = readControl(jobDir);
    if (control !== undefined) ask(control);
    if (over !== undefined) ask(over);
    if (spec.whenOwnerDies === 'end' && !isAlive(spec.owner)) ask('owner-died');
  };
  const timer = setInterval(tick, tickMs);
  return {
    sawOutput: () => {
      watch = sawOutput(watch, performance.now());
    },
    stop: () => {
      clearInterval(timer);
      return watch;
    },
  };
};
