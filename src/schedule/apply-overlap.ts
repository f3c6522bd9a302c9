// What becomes of one window that is due: start, wait, or end without a tick. The same for time and for events.

import type { Overlap } from '../core/trigger.ts';
import type { PendingWindow, Window, WindowEnd } from './port.ts';

export interface Lane {
  /** Windows that wait, oldest first. */
  readonly pending: readonly PendingWindow[];
  /** Ticks of the loop that run. */
  readonly running: readonly { readonly id: string }[];
}

export interface Settled {
  readonly window: Window;
  readonly end: Exclude<WindowEnd, 'fired' | 'missed'>;
  readonly reason: string;
}

/** Puts a due window in its place. @returns what waits now, and what ended for it */
export const admit = (
  lane: Lane,
  { window, overlap }: { readonly window: Window; readonly overlap: Overlap },
): { readonly pending: readonly PendingWindow[]; readonly ends: readonly Settled[] } => {
  const [tick] = lane.running;
  if (overlap === 'skip' && tick !== undefined)
    return { pending: lane.pending, ends: [{ window, end: 'skipped', reason: `The tick ${tick.id} still runs, and overlap is skip.` }] };
  const mustWait = overlap !== 'allow' && (tick !== undefined || lane.pending.length > 0);
  const replaced = mustWait ? lane.pending.filter(({ why }) => why === 'overlap') : [];
  return {
    pending: [...lane.pending.filter((waiting) => !replaced.includes(waiting)), { window, why: 'overlap' }],
    ends: replaced.map((waiting) => ({
      window: waiting.window,
      end: 'superseded',
      reason: `The newer window ${window.id} took its place in waiting.`,
    })),
  };
};

/** The window whose tick starts now, if any may; and the running ticks that have to go for it. */
export const release = (
  lane: Lane,
  overlap: Overlap,
): {
  readonly fire: Window | undefined;
  readonly pending: readonly PendingWindow[];
  readonly cancel: readonly { readonly id: string; readonly reason: string }[];
} => {
  const [first, ...rest] = lane.pending;
  if (first === undefined) return { fire: undefined, pending: [], cancel: [] };
  if (lane.running.length === 0 || overlap === 'allow') return { fire: first.window, pending: rest, cancel: [] };
  const cancel =
    overlap === 'cancel-previous'
      ? lane.running.map(({ id }) => ({ id, reason: `The window ${first.window.id} is due, and overlap is cancel-previous.` }))
      : [];
  return { fire: undefined, pending: lane.pending, cancel };
};
