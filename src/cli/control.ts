// What other processes ask of a daemon: rows of the journal that it takes once each.
import { z } from 'zod';
import type { Engine } from '../journal/index.ts';
import { drainPolicies, type DrainPolicy } from '../server/index.ts';
import { requests } from './daemon-state.ts';
import type { Drain } from './drain-options.ts';

export interface Control {
  down(drain: Drain): void;
  /** Goes on with an ended run under the input a person's command composed. */
  retry(request: { readonly run: string; readonly input: unknown }): Promise<void>;
  /** What was asked in a form nobody here understands: another version's command, most likely. */
  refused(sentence: string): void;
}

const downPayload = z.object({ policy: z.enum(drainPolicies as [DrainPolicy, ...DrainPolicy[]]), timeMs: z.number().int().min(0) });
const retryPayload = z.object({ run: z.string().min(1), input: z.unknown() });

const pollMs = 200;

/** Looks for requests until it is stopped. @returns stop */
export const watchRequests = (engine: Pick<Engine, 'takeSignals'>, control: Control): (() => void) => {
  let isLooking = false;

  const takeAll = async (): Promise<void> => {
    for (const { payload } of await engine.takeSignals(requests.down)) {
      const read = downPayload.safeParse(payload);
      if (read.success) control.down(read.data);
      else control.refused('A request to end was not understood; gyre down of this version is.');
    }
    for (const { payload } of await engine.takeSignals(requests.retry)) {
      const read = retryPayload.safeParse(payload);
      if (read.success) await control.retry({ run: read.data.run, input: read.data.input });
      else control.refused('A request to retry was not understood; gyre retry of this version is.');
    }
  };

  const look = (): void => {
    if (isLooking) return;
    isLooking = true;
    takeAll()
      // A journal that cannot be read has stopped the engine, which ends the daemon; a single look that fails is made again.
      .catch((error: unknown) => control.refused(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        isLooking = false;
      });
  };
  const timer = setInterval(look, pollMs);
  return () => clearInterval(timer);
};
