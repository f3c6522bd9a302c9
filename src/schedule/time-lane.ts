import { epochMs, type EpochMs } from '../core/ids.ts';
import type { TimeTrigger } from '../core/trigger.ts';
import { decideWindows, nextDue, type WindowDecisions } from './decide-windows.ts';
import { alarm, fire, newState, settleStarting, writeAndTell, type Lane, type LaneParts } from './lane.ts';
import { waitingPollMs } from './limits.ts';
import type { TriggerState } from './port.ts';
import { setBack } from './set-back.ts';
import { silence } from './silence.ts';
import { windowTimes } from './window-times.ts';

/** Clocks are stepped by less than this all the time; more is worth a fact. */
const steppedMs = 1000;
/** More starts in one look than any policy asks for: a defect, ended here. */
const startsMax = 1000;

/** A schedule or an interval at work. */
export const timeLane = (parts: LaneParts, trigger: TimeTrigger): Lane => {
  const { loop, ledger, ticks, clock, report } = parts;
  const times = windowTimes(trigger);
  const cancelled = new Set<string>();

  const endedFrom = (instant: EpochMs) => ledger.endedAfter(instant).map(({ record }) => ({ from: record.from, to: record.to }));

  /** W5, written before anything is decided by the new time. */
  const followClock = async (state: TriggerState, now: EpochMs): Promise<TriggerState> => {
    const back = setBack({ state, times, records: ledger.endedAfter(now) }, now);
    if (back === undefined) return state;
    await ledger.write({ state: back.state, changed: back.records }, now);
    if (back.reopened > 0 || state.accountedUntil - now > steppedMs)
      report({ kind: 'clock-set-back', loop, trigger: trigger.id, from: state.accountedUntil, to: now, reopened: back.reopened });
    return back.state;
  };

  const write = async (before: TriggerState, { state, ends }: WindowDecisions, now: EpochMs): Promise<void> => {
    const last = ends.at(-1)?.record.reason;
    // A window that starts now ends the silence.
    const notice =
      last === undefined || state.starting !== undefined ? undefined : silence({ loop, trigger, state }, { reason: last, now });
    await writeAndTell(parts, { state, ends, notices: alarm(parts, { before, silentAfter: trigger.silentAfter }, notice) ?? [] });
  };

  const look = async (): Promise<void> => {
    for (let starts = 0; starts < startsMax; starts += 1) {
      const now = clock();
      const known = ledger.state();
      if (known === undefined) {
        await ledger.write({ state: newState(now) }, now);
        return;
      }
      const state = await followClock(await settleStarting(parts, known, true), now);
      const decisions = decideWindows(
        { loop, trigger, times, state, ended: endedFrom(state.accountedUntil), running: ticks.running(loop) },
        now,
      );
      const isChanged =
        state !== ledger.state() ||
        decisions.ends.length > 0 ||
        decisions.fire !== undefined ||
        decisions.state.pending.length !== state.pending.length ||
        decisions.state.accountedUntil !== state.accountedUntil;
      if (isChanged) await write(state, decisions, now);
      for (const { id, reason } of decisions.cancel) {
        if (cancelled.has(id)) continue;
        cancelled.add(id);
        await ticks.cancel(id, reason);
      }
      if (decisions.fire === undefined || !(await fire(parts, decisions.state))) return;
    }
  };

  return {
    look,
    wakeAt: () => {
      const state = ledger.state();
      if (state === undefined) return undefined;
      const due = nextDue({ loop, trigger, times, state, ended: endedFrom(state.accountedUntil) });
      const waits = state.pending.length > 0 || state.starting !== undefined;
      return waits ? epochMs(Math.min(due ?? Infinity, clock() + waitingPollMs)) : due;
    },
    close: () => {},
  };
};
