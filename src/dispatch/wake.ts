import { epochMs, type EpochMs } from '../core/ids.ts';

/** What a parked task waits for. */
export type Wake =
  | { readonly on: 'time'; readonly at: EpochMs }
  /** The provider said when it serves again. */
  | { readonly on: 'quota'; readonly at: EpochMs; readonly provider: string }
  | { readonly on: 'answer'; readonly question: string }
  /** The branch or commit `of` is part of `target`. */
  | { readonly on: 'merge'; readonly target: string; readonly of: string }
  /** A person who says to go on. */
  | { readonly on: 'person' };

export interface WakeFacts {
  /** Questions that were answered. */
  readonly answered: ReadonlySet<string>;
  /** What has been merged, as `mergeKey` writes it. */
  readonly merged: ReadonlySet<string>;
}

export const noWakeFacts: WakeFacts = { answered: new Set(), merged: new Set() };

export const mergeKey = (merge: { readonly target: string; readonly of: string }): string => `${merge.of} -> ${merge.target}`;

/**
 * True when what a parked task waits for has come. Pure. A clock alone never wakes what waits for an event, and a task that waits for a
 * person is woken by being named in `StartView.resumed`, like any other that a person wants to go on.
 */
export const isAwake = (wake: Wake, facts: WakeFacts, now: EpochMs): boolean => {
  switch (wake.on) {
    case 'time':
    case 'quota':
      return wake.at <= now;
    case 'answer':
      return facts.answered.has(wake.question);
    case 'merge':
      return facts.merged.has(mergeKey(wake));
    case 'person':
      return false;
  }
};

/** When time alone will wake it; `undefined` where only an event can. */
export const wakesAt = (wake: Wake): EpochMs | undefined => (wake.on === 'time' || wake.on === 'quota' ? wake.at : undefined);

/** Longest time between two looks at the queue while something waits for an instant. */
const lookAgainMs = 30_000;

/**
 * The instant of the next look: the earliest of those given, and never far away, because the timers of a machine that slept are late by
 * its sleep and clocks are set. So what waits until T is looked at before T + 60 s.
 */
export const nextLook = (instants: readonly (EpochMs | undefined)[], now: EpochMs): EpochMs | undefined => {
  let earliest: number | undefined;
  for (const at of instants) if (at !== undefined && (earliest === undefined || at < earliest)) earliest = at;
  return earliest === undefined ? undefined : epochMs(Math.min(Math.max(earliest, now + 1), now + lookAgainMs));
};
