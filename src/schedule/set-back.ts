// W5: the clock stood ahead, and now does not. What was only accounted as missed comes back; what ended otherwise stays ended.

import { epochMs, type EpochMs } from '../core/ids.ts';
import type { TriggerState, WindowRecord } from './port.ts';
import type { WindowTimes } from './window-times.ts';

export interface SetBack {
  readonly state: TriggerState;
  /** Records to write anew; `undefined` removes. */
  readonly records: readonly { readonly key: string; readonly value: WindowRecord | undefined }[];
  /** Windows that are due again. */
  readonly reopened: number;
}

/**
 * Moves the mark back to `now`, when it stands ahead of it.
 * @param records every record of the trigger that ends after `now`
 * @returns `undefined` when the clock was not set back
 */
export const setBack = (
  {
    state,
    times,
    records,
  }: {
    readonly state: TriggerState;
    readonly times: WindowTimes;
    readonly records: readonly { readonly key: string; readonly record: WindowRecord }[];
  },
  now: EpochMs,
): SetBack | undefined => {
  if (state.accountedUntil <= now) return undefined;
  const changed: { key: string; value: WindowRecord | undefined }[] = [];
  let reopened = 0;
  for (const { key, record } of records) {
    if (record.end !== 'missed' || record.to <= now) continue;
    const { count, newest } = times.between(epochMs(record.from - 1), now, 1);
    const to = newest[0];
    changed.push({ key, value: to === undefined ? undefined : { ...record, to, count } });
    reopened += record.count - (to === undefined ? 0 : count);
  }
  return {
    state: { ...state, since: epochMs(Math.min(state.since, now)), accountedUntil: now, unfired: Math.max(0, state.unfired - reopened) },
    records: changed,
    reopened,
  };
};
