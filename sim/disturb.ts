// What happens to a daemon in a year, in a quarter of an hour: clocks are set, laptops sleep, disks fill, people cancel, pause, retry, edit
// their loops, merge and push. Drawn by the seed, at instants of the world.
import type { LoopDefinition } from '../src/core/loop-definition.ts';
import type { Engine, RunRow } from '../src/journal/index.ts';
import { inputOf, isTaskRun, outputOf, reopenedInput } from '../src/loop/index.ts';
import { triggerId } from '../src/core/trigger.ts';
import type { Chance } from './chance.ts';
import type { Clock } from './clock.ts';
import type { Life } from './life.ts';
import type { Machine } from './machine.ts';
import type { Trace } from './trace.ts';
import type { Watch } from './watch.ts';
import type { World } from './world.ts';

export interface Disturbed {
  readonly chance: Chance;
  readonly clock: Clock;
  readonly world: World;
  readonly machine: Machine;
  readonly trace: Trace;
  readonly watch: Watch;
  readonly disk: { refusals: number };
  readonly life: () => Life | undefined;
  readonly loops: () => readonly LoopDefinition[];
  readonly setLoops: (loops: readonly LoopDefinition[]) => void;
}

const minuteMs = 60_000;

type Disturbance = (on: Disturbed, engine: Engine, life: Life) => Promise<unknown> | undefined;

const pickOf = <T>(chance: Chance, items: readonly T[]): T | undefined => items[chance.between(0, Math.max(0, items.length - 1))];

const openRuns = (engine: Engine): readonly RunRow[] => engine.reader.runs().filter((row) => row.endedAt === undefined);

const kinds: Readonly<Record<string, Disturbance>> = {
  'clock ahead': ({ clock, chance }) => {
    clock.setBy(chance.pick([2_000, 90_000, 20 * minuteMs, 3 * 60 * minuteMs]));
    return undefined;
  },
  'clock back': ({ clock, chance }) => {
    clock.setBy(-chance.pick([2_000, 90_000, 20 * minuteMs, 3 * 60 * minuteMs]));
    return undefined;
  },
  sleep: ({ clock, chance }, _engine, life) => {
    clock.setBy(chance.between(10, 600) * minuteMs);
    return life.scheduler()?.look();
  },
  'disk full': ({ disk, chance }) => {
    disk.refusals = chance.between(1, 4);
    return undefined;
  },
  kill: (_on, _engine, life) => {
    life.die('killed');
    return undefined;
  },
  'power loss': ({ machine }, _engine, life) => {
    life.die('the power is gone');
    machine.powerLoss();
    return undefined;
  },
  down: ({ chance }, _engine, life) => life.close(chance.pick(['finish', 'park', 'checkpoint'])),
  cancel: ({ chance }, engine) => {
    const row = pickOf(chance, openRuns(engine));
    return row === undefined ? undefined : engine.cancel(row.id, { reason: 'a person said so' });
  },
  pause: ({ chance }, engine) => {
    const row = pickOf(chance, openRuns(engine));
    return row === undefined ? undefined : engine.pause(row.id, 'a person said so');
  },
  resume: ({ chance }, engine) => {
    const row = pickOf(
      chance,
      openRuns(engine).filter(({ state }) => state === 'paused'),
    );
    return row === undefined ? undefined : engine.resume(row.id);
  },
  retry: (on, engine, life) => {
    const ended = engine.reader
      .runs()
      .filter((row) => isTaskRun(row) && row.endedAt !== undefined && outputOf(row).exit.exit !== 'goal-met');
    const row = pickOf(on.chance, ended);
    const handler = life.handlers()?.task;
    if (row === undefined || handler === undefined) return undefined;
    const loop = on.loops().find(({ name }) => name === inputOf(row).loop.name) ?? inputOf(row).loop;
    on.watch.extraRun();
    return engine.reopen(handler, row.id, reopenedInput(row, loop, '')).then((handle) => life.dispatcher()?.take(handle));
  },
  'new limits': (on, _engine, life) => {
    const { chance } = on;
    on.setLoops(
      on.loops().map((loop) => ({
        ...loop,
        parallel: chance.between(1, 2),
        stop: { ...loop.stop, attempts: chance.between(1, 4) },
        land: { ...loop.land, as: chance.pick(['merge', 'branch', 'report']) },
      })),
    );
    return life.scheduler()?.reload(on.loops());
  },
  'new schedule': (on, _engine, life) => {
    const everyMs = on.chance.pick([minuteMs, 3 * minuteMs]);
    on.setLoops(
      on.loops().map((loop, index) =>
        index > 0
          ? loop
          : {
              ...loop,
              triggers: [
                {
                  on: 'every',
                  id: triggerId('every', [everyMs]),
                  everyMs,
                  overlap: 'queue',
                  catchUp: { run: 'once' },
                  jitterMs: 0,
                  silentAfter: 3,
                },
              ],
            },
      ),
    );
    return life.scheduler()?.reload(on.loops());
  },
  'a person does a task': ({ world, clock, chance, loops }) => {
    const open = loops().flatMap(({ name }) => world.openTasks(name, { commit: world.head(), uptimeMs: clock.uptimeMs() }));
    const task = pickOf(chance, open);
    if (task !== undefined) world.push(world.commitOn(world.head(), { done: [task.name], isBroken: false, tree: `person:${task.name}` }));
    return undefined;
  },
  'a person pushes': ({ world }) => {
    world.push(world.commitOn(world.head(), { done: [], isBroken: false, tree: 'person' }));
    return undefined;
  },
  'a person merges': ({ world, chance }) => {
    const landing = pickOf(
      chance,
      world.landings.filter(({ commit }) => !world.isOnTarget(commit)),
    );
    if (landing === undefined) return undefined;
    world.push(world.combine(world.commit(landing.commit), world.head()), landing.commit);
    return undefined;
  },
  'a task is withdrawn': ({ world, chance }) => {
    const task = pickOf(chance, world.tasks);
    if (task !== undefined) world.withdraw(task.name);
    return undefined;
  },
};

export const disturbances = Object.keys(kinds) as [string, ...string[]];

/** Puts a handful of disturbances on the world's timers, before the calm. */
export const disturb = (on: Disturbed, options: { readonly calmAtMs: number; readonly happened: (kind: string) => void }): void => {
  const count = on.chance.between(0, 7);
  for (let index = 0; index < count; index += 1) {
    const kind = on.chance.pick(disturbances);
    on.clock.world.after(on.chance.between(1_000, options.calmAtMs - 1), () => {
      const life = on.life();
      const engine = life?.engine();
      if (life === undefined || engine === undefined || !life.isUp()) return;
      options.happened(kind);
      on.trace.say(`disturbed: ${kind}`);
      // A request that an engine refuses, or dies over, is its person's to make again.
      kinds[kind]?.(on, engine, life)?.catch((error: unknown) => on.trace.say(`refused: ${String(error)}`));
    });
  }
};
