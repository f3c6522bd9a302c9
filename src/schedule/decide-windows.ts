// What is due of one time trigger, and how each window ends. Pure: the time is an argument.

import { epochMs, type EpochMs } from '../core/ids.ts';
import type { TimeTrigger } from '../core/trigger.ts';
import { admit, release, type Settled } from './apply-overlap.ts';
import { onTimeMs, stretchMsMax } from './limits.ts';
import type { PendingWindow, TriggerState, Window, WindowRecord } from './port.ts';
import { stretches, type Span } from './stretches.ts';
import { dueAt, timeWindow } from './window-id.ts';
import type { WindowTimes } from './window-times.ts';

export interface TimeView {
  readonly loop: string;
  readonly trigger: TimeTrigger;
  readonly times: WindowTimes;
  readonly state: TriggerState;
  /** Ends past `accountedUntil`: there are some after a clock was set back, and after a crash. */
  readonly ended: readonly Span[];
  /** Ticks of the loop that run. */
  readonly running: readonly { readonly id: string }[];
}

export interface WindowDecisions {
  /** Ends by the key of their record (id of the first window). */
  readonly ends: readonly { readonly key: string; readonly record: WindowRecord }[];
  /** The window whose tick starts now. Its end is recorded once the tick exists (W3). */
  readonly fire: Window | undefined;
  readonly cancel: readonly { readonly id: string; readonly reason: string }[];
  /** The state to write before anything is started; `starting` is `fire`. */
  readonly state: TriggerState;
}

/** Ends of single windows as records. */
export const endsOf = (settled: readonly Settled[], now: EpochMs): WindowDecisions['ends'] =>
  settled.map(({ window, end, reason }) => ({
    key: window.id,
    record: { loop: window.loop, trigger: window.trigger, end, reason, from: window.at, to: window.at, count: 1, at: now },
  }));

interface Due {
  /** To run, oldest first. */
  readonly run: readonly Window[];
  /** Newest instant accounted for. */
  readonly until: EpochMs;
  /** What happened to the windows before. */
  readonly why: string;
}

/**
 * The newest windows that nothing covers, oldest first. A span may cover any number of windows, so they are looked for between the spans.
 * @param most one more than can run, as the newest may still be waiting for its jitter
 */
const newestOpen = (times: WindowTimes, between: Parameters<typeof stretches>[1], most: number): readonly EpochMs[] => {
  let found: readonly EpochMs[] = [];
  for (const { from, to } of stretches(times, between).toReversed()) {
    if (found.length >= most) break;
    found = [...times.between(epochMs(from - 1), to, most - found.length).newest, ...found];
  }
  return found;
};

/** Windows that are due and run; everything else until the newest of them was missed. `undefined`: nothing is due. */
const dueOf = ({ loop, trigger, times, state }: TimeView, covered: readonly Span[], now: EpochMs): Due | undefined => {
  const { catchUp, jitterMs } = trigger;
  const most = catchUp.run === 'all' ? catchUp.max : 1;
  const after = epochMs(Math.max(state.accountedUntil, now - stretchMsMax));
  const due = newestOpen(times, { after, until: now, covered }, most + 1)
    .map((at) => timeWindow(loop, trigger, at))
    .filter((window) => dueAt(window, jitterMs) <= now);
  const last = due.at(-1);
  if (last === undefined) return undefined;
  const isOnTime = now - dueAt(last, jitterMs) <= onTimeMs;
  if (catchUp.run === 'none')
    return { run: isOnTime ? [last] : [], until: last.at, why: 'Nothing looked at the schedule in time, and catch-up is skip.' };
  if (catchUp.run === 'once')
    return { run: [last], until: last.at, why: `Nothing looked at the schedule in time; the newest window ${last.id} stands for it.` };
  return {
    run: due.slice(-most),
    until: last.at,
    why: `Nothing looked at the schedule in time, and catch-up runs the newest ${most} only.`,
  };
};

/** Decides every window up to `now`. Looking twice at the same time decides nothing the second time. */
export const decideWindows = (view: TimeView, now: EpochMs): WindowDecisions => {
  const { loop, trigger, times, state, running } = view;
  const waiting = state.pending.map(({ window }): Span => ({ from: window.at, to: window.at }));
  const covered = [...view.ended, ...waiting].filter(({ to }) => to > state.accountedUntil);
  const due = dueOf(view, covered, now);

  let pending: readonly PendingWindow[] = state.pending;
  const settled: Settled[] = [];
  const ends: { readonly key: string; readonly record: WindowRecord }[] = [];
  if (due !== undefined) {
    const runs = due.run.map(({ at }): Span => ({ from: at, to: at }));
    const after = epochMs(Math.max(state.accountedUntil, now - stretchMsMax));
    for (const missed of stretches(times, { after, until: due.until, covered: [...covered, ...runs] }))
      ends.push({
        key: timeWindow(loop, trigger, missed.from).id,
        record: { loop, trigger: trigger.id, end: 'missed', reason: due.why, ...missed, at: now },
      });
    if (due.run.length > 1) pending = [...pending, ...due.run.map((window) => ({ window, why: 'catch-up' as const }))];
    else
      for (const window of due.run) {
        const admitted = admit({ pending, running }, { window, overlap: trigger.overlap });
        pending = admitted.pending;
        settled.push(...admitted.ends);
      }
  }
  const released = release({ pending, running }, trigger.overlap);
  ends.push(...endsOf(settled, now));
  const count = ends.reduce((sum, { record }) => sum + record.count, 0);
  return {
    ends,
    fire: released.fire,
    cancel: released.cancel,
    state: {
      ...state,
      accountedUntil: due === undefined ? state.accountedUntil : epochMs(Math.max(state.accountedUntil, due.until)),
      pending: released.pending,
      starting: released.fire,
      // A loop whose tick is at work is not silent, however many windows pass meanwhile.
      unfired: running.length > 0 ? state.unfired : state.unfired + count,
    },
  };
};

/** When the next window of a trigger is due; `undefined` when it has none. */
export const nextDue = ({ loop, trigger, times, state, ended }: Omit<TimeView, 'running'>): EpochMs | undefined => {
  for (let at = times.next(state.accountedUntil); at !== undefined; at = times.next(at)) {
    const covering = ended.find(({ from, to }) => from <= (at ?? 0) && (at ?? 0) <= to);
    if (covering === undefined) return dueAt(timeWindow(loop, trigger, at), trigger.jitterMs);
    at = covering.to;
  }
  return undefined;
};
