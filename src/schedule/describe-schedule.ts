// What a person asks of a schedule: what happened to the last windows, and when the next ones are. Read from the registers; works beside
// a running scheduler and without one.

import type { EpochMs } from '../core/ids.ts';
import { isTimeTrigger, type TriggerDefinition } from '../core/trigger.ts';
import type { Registers, ScheduledLoop, TriggerState, WindowRecord } from './port.ts';
import { dueAt, timeWindow, triggerKey } from './window-id.ts';
import { windowTimes } from './window-times.ts';
import { localText } from './zone.ts';

export interface ScheduleView {
  readonly loops: readonly ScheduledLoop[];
  readonly registers: Pick<Registers, 'get' | 'list'>;
  /** Most past ends of a trigger. */
  readonly pastCount: number;
  /** Most coming windows of a trigger. */
  readonly nextCount: number;
}

export interface TriggerDescription {
  readonly loop: string;
  readonly trigger: TriggerDefinition;
  /** `at 0 7 * * 1-5 (Europe/Berlin)`, `every 15m`, ... */
  readonly text: string;
  /** Oldest first. */
  readonly past: readonly WindowRecord[];
  /** Windows that wait for a running tick. */
  readonly waiting: readonly string[];
  readonly next: readonly {
    readonly at: EpochMs;
    /** With the jitter of this window. */ readonly dueAt: EpochMs;
    readonly local: string;
  }[];
  /** Windows of the past that nobody has looked at yet: none while a scheduler runs. */
  readonly unseen: number;
  /** One sentence, when something is wrong: a silent loop, or a schedule that nobody looks at. */
  readonly alarm: string | undefined;
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

const durationText = (ms: number): string => {
  let left = ms;
  return units
    .map(([unit, size]) => {
      const count = Math.floor(left / size);
      left -= count * size;
      return count === 0 ? '' : `${count}${unit}`;
    })
    .join('');
};

/** A trigger in a few words. */
export const triggerText = (trigger: TriggerDefinition): string => {
  switch (trigger.on) {
    case 'manual':
      return 'by hand';
    case 'schedule':
      return `at ${trigger.cron} (${trigger.timezone})`;
    case 'every':
      return `every ${durationText(trigger.everyMs)}`;
    case 'watch':
      return `when ${trigger.globs.join(', ')} change`;
    case 'git':
      return `when ${trigger.refs.kind === 'tag' ? 'tag' : 'branch'} ${trigger.refs.pattern}${trigger.refs.kind === 'remote' ? ` of ${trigger.refs.remote}` : ''} moves`;
    case 'webhook':
      return `webhook ${[trigger.sender, trigger.event, trigger.action].filter((part) => part !== undefined).join('.')}`;
    case 'after':
      return `after ${trigger.loop}${trigger.exits.length === 0 ? '' : ` ends ${trigger.exits.join(' or ')}`}`;
  }
};

const describe = (
  { registers, pastCount, nextCount }: ScheduleView,
  { loop, trigger, now }: { readonly loop: string; readonly trigger: TriggerDefinition; readonly now: EpochMs },
): TriggerDescription => {
  const key = triggerKey(loop, trigger.id);
  const state = registers.get('triggers', key)?.value as TriggerState | undefined;
  const records = registers
    .list('windows', { prefix: `${key}/` })
    .map(({ value }) => value as WindowRecord)
    .sort((a, b) => a.to - b.to || a.at - b.at);
  const base = {
    loop,
    trigger,
    text: triggerText(trigger),
    past: pastCount === 0 ? [] : records.slice(-pastCount),
    waiting: (state?.pending ?? []).map(({ window }) => window.id),
  };
  if (!isTimeTrigger(trigger)) return { ...base, next: [], unseen: 0, alarm: undefined };

  const times = windowTimes(trigger);
  const unseen = state === undefined || state.accountedUntil >= now ? 0 : times.between(state.accountedUntil, now, 0).count;
  const next: TriggerDescription['next'][number][] = [];
  for (let at = times.next(now); at !== undefined && next.length < nextCount; at = times.next(at))
    next.push({
      at,
      dueAt: dueAt(timeWindow(loop, trigger, at), trigger.jitterMs),
      local: localText(trigger.on === 'schedule' ? trigger.timezone : 'UTC', at),
    });
  const silent = (state?.unfired ?? 0) + unseen;
  const reason = records.at(-1)?.reason ?? 'nothing has looked at the schedule yet.';
  const isSilent = state !== undefined && silent >= trigger.silentAfter;
  const alarm = !isSilent
    ? undefined
    : unseen > 0
      ? `${unseen} ${unseen === 1 ? 'window' : 'windows'} of ${loop} passed and nothing looked: is gyre up running?`
      : `The loop ${loop} had no tick in its last ${silent} windows. The last reason: ${reason}`;
  return { ...base, next, unseen, alarm };
};

/** Every trigger of every loop, in their order. */
export const describeSchedule = (view: ScheduleView, now: EpochMs): readonly TriggerDescription[] =>
  view.loops.flatMap((loop) => loop.triggers.map((trigger) => describe(view, { loop: loop.name, trigger, now })));
