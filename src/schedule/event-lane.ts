import { epochMs, type EpochMs } from '../core/ids.ts';
import type { EventTrigger } from '../core/trigger.ts';
import { admit, release, type Settled } from './apply-overlap.ts';
import { endsOf } from './decide-windows.ts';
import { fire, newState, sentenceOf, settleStarting, writeAndTell, type Lane, type LaneParts } from './lane.ts';
import { waitingPollMs } from './limits.ts';
import type { PendingWindow, TriggerState, Window } from './port.ts';
import type { Source, SourceEvent } from './source.ts';

/** One delivery of a webhook. */
export interface Delivery {
  /** Ids under which it is remembered; one that is known makes the whole a duplicate. The first is the window's part. */
  readonly ids: readonly string[];
  readonly cause: Readonly<Record<string, string>>;
}

export interface EventLane extends Lane {
  /** Takes a delivery in: `true` once it is on disk, `false` when it was taken in before. */
  deliver(delivery: Delivery): Promise<boolean>;
}

/** Files, git, webhooks and other loops at work. @param source what to look at; `undefined` when events are delivered */
export const eventLane = (
  parts: LaneParts,
  { trigger, source, poke }: { readonly trigger: EventTrigger; readonly source: Source | undefined; readonly poke: () => void },
): EventLane => {
  const { loop, ledger, ticks, clock, report } = parts;
  let isHinted = true;
  let lookedAt: EpochMs | undefined;
  const cancelled = new Set<string>();
  const hints = source?.hint(() => {
    isHinted = true;
    poke();
  });

  const windowOf = ({ part, cause }: SourceEvent, now: EpochMs, taken: ReadonlySet<string>): Window | undefined => {
    const isTaken = (id: string): boolean => taken.has(id) || ledger.has(id) || ticks.exists(id);
    const base = `${ledger.key}/${part.slice(0, 220)}`;
    let id = base;
    for (let n = 2; isTaken(id); n += 1) {
      if (source?.parts !== 'repeatable') return undefined;
      id = `${base}#${n}`;
    }
    return { id, loop, trigger: trigger.id, on: trigger.on, at: now, cause };
  };

  /** Puts events in their places and writes that together with what the source has seen. */
  const take = async (
    state: TriggerState,
    {
      events,
      seen,
      deliveries,
    }: { readonly events: readonly SourceEvent[]; readonly seen: TriggerState['seen']; readonly deliveries?: readonly string[] },
  ): Promise<void> => {
    const now = clock();
    const running = ticks.running(loop);
    let pending: readonly PendingWindow[] = state.pending;
    const settled: Settled[] = [];
    const taken = new Set(pending.map(({ window }) => window.id));
    for (const event of events) {
      const window = windowOf(event, now, taken);
      if (window === undefined) continue;
      taken.add(window.id);
      const admitted = admit({ pending, running }, { window, overlap: trigger.overlap });
      ({ pending } = admitted);
      settled.push(...admitted.ends);
    }
    await writeAndTell(parts, {
      state: { ...state, pending, seen, accountedUntil: now, unfired: state.unfired + settled.length },
      ends: endsOf(settled, now),
      ...(deliveries === undefined ? {} : { deliveries }),
    });
  };

  const settled = async (): Promise<TriggerState | undefined> => {
    const state = ledger.state();
    return state === undefined ? undefined : settleStarting(parts, state, false);
  };

  const lookAtSource = async (): Promise<void> => {
    if (source === undefined) return;
    isHinted = false;
    const now = clock();
    lookedAt = now;
    try {
      const state = await settled();
      const { events, seen } = await source.look(state?.seen, now);
      if (state === undefined) await ledger.write({ state: newState(now, seen) }, now);
      else if (events.length > 0 || JSON.stringify(seen) !== JSON.stringify(state.seen)) await take(state, { events, seen });
    } catch (error) {
      report({ kind: 'trouble', loop, trigger: trigger.id, sentence: `The trigger ${trigger.id} could not look: ${sentenceOf(error)}` });
    }
  };

  /** Starts what may start, one after another. */
  const pump = async (): Promise<void> => {
    for (;;) {
      const state = await settled();
      if (state === undefined) return;
      const released = release({ pending: state.pending, running: ticks.running(loop) }, trigger.overlap);
      for (const { id, reason } of released.cancel) {
        if (cancelled.has(id)) continue;
        cancelled.add(id);
        await ticks.cancel(id, reason);
      }
      if (released.fire === undefined) {
        if (state !== ledger.state() && state.pending.length !== ledger.state()?.pending.length) await ledger.write({ state }, clock());
        return;
      }
      const starting: TriggerState = { ...state, pending: released.pending, starting: released.fire };
      await ledger.write({ state: starting }, clock());
      if (!(await fire(parts, starting))) return;
    }
  };

  return {
    look: async (isForced) => {
      const now = clock();
      const isTime = source !== undefined && (lookedAt === undefined || now >= lookedAt + source.pollMs || now < lookedAt);
      if (isForced || isHinted || isTime) await lookAtSource();
      await pump();
    },
    wakeAt: () => {
      const state = ledger.state();
      const waits = state !== undefined && (state.pending.length > 0 || state.starting !== undefined);
      const poll = source === undefined || lookedAt === undefined ? undefined : lookedAt + source.pollMs;
      const wait = waits ? clock() + waitingPollMs : undefined;
      return poll === undefined && wait === undefined ? undefined : epochMs(Math.min(poll ?? Infinity, wait ?? Infinity));
    },
    close: () => hints?.[Symbol.dispose](),
    deliver: async ({ ids, cause }) => {
      if (ids.some((id) => ledger.hasDelivery(id))) return false;
      const state = (await settled()) ?? newState(clock());
      const [part] = ids;
      await take(state, { events: part === undefined ? [] : [{ part, cause }], seen: state.seen, deliveries: ids });
      return true;
    },
  };
};
