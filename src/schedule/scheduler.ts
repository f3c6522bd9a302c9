// The scheduler: one look after another, each lane in turn, and one timer to the next look. What a look does is in the lanes.

import { Rejection } from '../core/fault.ts';
import { epochMs, type EpochMs } from '../core/ids.ts';
import { isEventTrigger, isTimeTrigger, type EventTrigger, type TriggerDefinition } from '../core/trigger.ts';
import { createGit } from '../workspace/index.ts';
import { afterSource } from './after-source.ts';
import { eventLane, type EventLane } from './event-lane.ts';
import { forgetRemoved } from './forget-removed.ts';
import { gitSource } from './git-source.ts';
import type { Lane, LaneParts } from './lane.ts';
import { createLedger } from './ledger.ts';
import { inboxCount, timerSliceMs } from './limits.ts';
import type { ScheduledLoop, Scheduler, SchedulerOptions } from './port.ts';
import type { Source } from './source.ts';
import { timeLane } from './time-lane.ts';
import { triggerIssues } from './trigger-issues.ts';
import { watchSource } from './watch-source.ts';
import type { Hook } from './webhook-app.ts';
import { openWebhookServer, type WebhookServer } from './webhook-server.ts';

interface Placed {
  readonly loop: string;
  readonly trigger: TriggerDefinition;
  readonly lane: Lane;
}

const sourceOf = (trigger: EventTrigger, { repository, ticks }: SchedulerOptions): Source | undefined => {
  if (trigger.on === 'webhook') return undefined;
  if (trigger.on === 'after') return afterSource({ ticks, loop: trigger.loop, exits: trigger.exits });
  // triggerIssues has refused these without a repository.
  const git = createGit(repository ?? '.');
  return trigger.on === 'git' ? gitSource({ git, refs: trigger.refs, pollMs: trigger.pollMs }) : watchSource({ git, globs: trigger.globs });
};

const refuse = (loops: readonly ScheduledLoop[], options: SchedulerOptions): void => {
  const issues = triggerIssues(loops, options);
  if (issues.length > 0)
    throw new Rejection(`${issues.length === 1 ? 'A trigger' : `${issues.length} triggers`} cannot be used.`, { issues });
};

/** Makes a scheduler that does nothing before `start`. */
export const createScheduler = (options: SchedulerOptions): Scheduler => {
  const { registers, ticks, clock, timers, report } = options;
  let placed: readonly Placed[] = [];
  let server: WebhookServer | undefined;
  let isRunning = false;
  let timer: { cancel(): void } | undefined;
  let waiting = 0;
  let queue: Promise<unknown> = Promise.resolve();

  /** Everything that reads or writes a lane goes through here, one after another. */
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const done = queue.then(act);
    queue = done.catch(() => {});
    return done;
  };

  const place = (loop: ScheduledLoop): readonly Placed[] =>
    loop.triggers.flatMap((trigger) => {
      if (!isTimeTrigger(trigger) && !isEventTrigger(trigger)) return [];
      const parts: LaneParts = { loop: loop.name, ledger: createLedger(registers, loop.name, trigger.id), ticks, clock, report };
      const lane = isTimeTrigger(trigger)
        ? timeLane(parts, trigger)
        : eventLane(parts, { trigger, source: sourceOf(trigger, options), poke });
      return [{ loop: loop.name, trigger, lane }];
    });

  const lookInTurn = async (isForced: boolean): Promise<void> => {
    for (const { loop, trigger, lane } of placed) {
      if (!isRunning) return;
      try {
        await lane.look(isForced);
      } catch (error) {
        // The journal is away, most likely. Nothing was decided; the next look does it.
        report({ kind: 'trouble', loop, trigger: trigger.id, sentence: `The trigger ${trigger.id} was not looked at: ${String(error)}` });
      }
    }
    arm();
  };

  const arm = (): void => {
    timer?.cancel();
    timer = undefined;
    if (!isRunning) return;
    const wake = placed.map(({ lane }) => lane.wakeAt() ?? Infinity);
    const ms = Math.max(0, Math.min(timerSliceMs, Math.min(...wake, Infinity) - clock()));
    timer = timers.after(ms, poke);
  };

  function poke(): void {
    if (isRunning) void inTurn(() => lookInTurn(false));
  }

  const hooksOf = (loop: string): readonly Hook[] =>
    placed.flatMap(({ loop: of, trigger, lane }) => {
      if (of !== loop || trigger.on !== 'webhook') return [];
      const deliver: Hook['deliver'] = async (delivery) => {
        if (waiting >= inboxCount || !isRunning) return undefined;
        waiting += 1;
        try {
          const isNew = await inTurn(() => (lane as EventLane).deliver(delivery));
          poke();
          return isNew;
        } finally {
          waiting -= 1;
        }
      };
      return [{ trigger, secret: options.env[trigger.secretVariable] ?? '', deliver }];
    });

  const install = async (loops: readonly ScheduledLoop[]): Promise<void> => {
    const wantsServer = loops.some(({ triggers }) => triggers.some(({ on }) => on === 'webhook'));
    // The one thing that can fail comes first, so that a refused reload changes nothing.
    if (wantsServer && server === undefined) server = await openWebhookServer({ ...options.server, hooksOf, clock });
    for (const { lane } of placed) lane.close();
    await forgetRemoved({ registers, ticks, loops, now: clock() });
    placed = loops.flatMap(place);
    if (!wantsServer && server !== undefined) {
      await server.close();
      server = undefined;
    }
  };

  return {
    start: async () => {
      refuse(options.loops, options);
      await inTurn(async () => {
        await install(options.loops);
        isRunning = true;
        await lookInTurn(true);
      });
    },
    stop: async () => {
      isRunning = false;
      timer?.cancel();
      await inTurn(async () => {
        for (const { lane } of placed) lane.close();
        placed = [];
        await server?.close();
        server = undefined;
      });
      timer?.cancel();
    },
    reload: async (loops) => {
      refuse(loops, options);
      await inTurn(async () => {
        await install(loops);
        await lookInTurn(true);
      });
    },
    tickEnded: poke,
    look: () => inTurn(() => lookInTurn(true)),
    next: (): EpochMs | undefined => {
      const due = placed.filter(({ trigger }) => isTimeTrigger(trigger)).map(({ lane }) => lane.wakeAt() ?? Infinity);
      const soonest = Math.min(...due, Infinity);
      return Number.isFinite(soonest) ? epochMs(soonest) : undefined;
    },
    get address() {
      return server?.address;
    },
  };
};
