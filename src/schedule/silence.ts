import type { EpochMs } from '../core/ids.ts';
import type { TimeTrigger } from '../core/trigger.ts';
import type { SilentNotice, TriggerState } from './port.ts';

/** The alarm of a trigger that has had no tick for `silent-after` windows, `undefined` while all is well. */
export const silence = (
  { loop, trigger, state }: { readonly loop: string; readonly trigger: TimeTrigger; readonly state: TriggerState },
  { reason, now }: { readonly reason: string; readonly now: EpochMs },
): SilentNotice | undefined =>
  state.unfired < trigger.silentAfter
    ? undefined
    : {
        kind: 'loop-silent',
        loop,
        trigger: trigger.id,
        windows: state.unfired,
        sentence: `The loop ${loop} had no tick in its last ${state.unfired} windows. The last reason: ${reason}`,
        at: now,
      };
