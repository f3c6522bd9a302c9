// What time and event triggers share: settling what a crash left, starting a window's tick (W3), and telling what happened.

import { Fault } from '../core/fault.ts';
import { epochMs, type EpochMs } from '../core/ids.ts';
import type { KeyedRecord, Ledger, LedgerEntry } from './ledger.ts';
import type { ScheduleReport, SilentNotice, Ticks, TriggerState, Window } from './port.ts';

/** One trigger of one loop at work. Calls must not overlap: the scheduler makes them one after another. */
export interface Lane {
  /** Looks at what is due and does it. `isForced`: also at what is not yet to be looked at. */
  look(isForced: boolean): Promise<void>;
  /** When to look next, `undefined`: nothing is expected. */
  wakeAt(): EpochMs | undefined;
  close(): void;
}

export interface LaneParts {
  readonly loop: string;
  readonly ledger: Ledger;
  readonly ticks: Ticks;
  readonly clock: () => EpochMs;
  readonly report: (report: ScheduleReport) => void;
}

export const newState = (now: EpochMs, seen: TriggerState['seen'] = {}): TriggerState => ({
  since: now,
  accountedUntil: now,
  pending: [],
  starting: undefined,
  unfired: 0,
  seen,
});

export const silentKey = (trigger: string): string => `silent/${trigger}`;

/** Sentence of anything thrown. */
export const sentenceOf = (error: unknown): string =>
  error instanceof Fault ? [error.message, error.hint ?? ''].join(' ').trim() : String(error);

/** Writes to the ledger, then tells about the ends. */
export const writeAndTell = async ({ ledger, clock, report }: LaneParts, entry: LedgerEntry): Promise<void> => {
  await ledger.write(entry, clock());
  for (const { key, record } of entry.ends ?? []) report({ kind: 'window-ended', window: key, record });
};

const firedRecord = (window: Window, now: EpochMs, reason: string): KeyedRecord => ({
  key: window.id,
  record: { loop: window.loop, trigger: window.trigger, end: 'fired', reason, from: window.at, to: window.at, count: 1, at: now },
});

const writeFired = async (
  parts: LaneParts,
  { state, window, reason }: { readonly state: TriggerState; readonly window: Window; readonly reason: string },
): Promise<void> => {
  const wasSilent = state.unfired > 0;
  await writeAndTell(parts, {
    state: { ...state, starting: undefined, unfired: 0 },
    ends: [firedRecord(window, parts.clock(), reason)],
    notices: wasSilent ? [{ key: silentKey(parts.ledger.key), value: undefined }] : [],
  });
};

/** Why a window fired: on time, late, or because something happened. */
const reasonOf = (window: Window, now: EpochMs): string => {
  if (window.on !== 'schedule' && window.on !== 'every') return 'The event was noticed.';
  const lateS = Math.round((now - window.at) / 1000);
  return lateS < 60 ? 'Its time had come.' : `Its time had come ${lateS} seconds before.`;
};

/**
 * Starts the tick of `state.starting`, which is on disk already, and records the end.
 * @returns whether the tick exists; if not, the trouble is told and the next look tries again
 */
export const fire = async (parts: LaneParts, state: TriggerState): Promise<boolean> => {
  const window = state.starting;
  if (window === undefined) return false;
  try {
    await parts.ticks.start(window);
  } catch (error) {
    parts.report({
      kind: 'trouble',
      loop: parts.loop,
      trigger: window.trigger,
      sentence: `The tick of window ${window.id} could not be started: ${sentenceOf(error)}`,
    });
    return false;
  }
  await writeFired(parts, { state, window, reason: reasonOf(window, parts.clock()) });
  return true;
};

/** Asks the world about a window whose start was begun and not recorded. @returns the state to go on with */
export const settleStarting = async (parts: LaneParts, state: TriggerState, isTime: boolean): Promise<TriggerState> => {
  const window = state.starting;
  if (window === undefined) return state;
  if (parts.ticks.exists(window.id)) {
    await writeFired(parts, { state, window, reason: 'Its tick was found after an interruption.' });
    return { ...state, starting: undefined, unfired: 0 };
  }
  // A time window is due again and judged by its policies anew; an event has no second chance and goes to the front.
  return isTime
    ? { ...state, starting: undefined, accountedUntil: epochMs(Math.min(state.accountedUntil, window.at - 1)) }
    : { ...state, starting: undefined, pending: [{ window, why: 'catch-up' }, ...state.pending] };
};

/** Raises the alarm of a silent loop once, and again only after it has fired. */
export const alarm = (
  parts: LaneParts,
  { before, silentAfter }: { readonly before: TriggerState; readonly silentAfter: number },
  notice: SilentNotice | undefined,
): LedgerEntry['notices'] => {
  if (notice === undefined) return [];
  if (before.unfired < silentAfter) parts.report({ kind: 'loop-silent', notice });
  return [{ key: silentKey(parts.ledger.key), value: notice }];
};
