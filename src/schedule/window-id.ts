import { fnv1a, type TimeTrigger } from '../core/trigger.ts';
import { epochMs, type EpochMs } from '../core/ids.ts';
import type { Window } from './port.ts';

/** Always with milliseconds, so that ids sort by time. */
export const isoTime = (at: EpochMs): string => new Date(at).toISOString();

/** Key of a trigger's state, and prefix (with a slash) of its windows. */
export const triggerKey = (loop: string, trigger: string): string => `${loop}/${trigger}`;

export const timeWindow = (loop: string, trigger: TimeTrigger, at: EpochMs): Window => ({
  id: `${triggerKey(loop, trigger.id)}/${isoTime(at)}`,
  loop,
  trigger: trigger.id,
  on: trigger.on,
  at,
  cause: {},
});

/** When a time window is due: its instant and its own share of the jitter, the same at every look and on every machine. */
export const dueAt = (window: Window, jitterMs: number): EpochMs => epochMs(window.at + (jitterMs === 0 ? 0 : fnv1a(window.id) % jitterMs));
