// The small world of a seed: its loops, its tasks, and how long it lasts. Drawn once, before anything runs.
import type { LoopDefinition } from '../src/core/loop-definition.ts';
import { triggerId, type CatchUp, type Overlap, type TriggerDefinition } from '../src/core/trigger.ts';
import type { Chance } from './chance.ts';

/** A piece of work as the world knows it. */
export interface SimTask {
  readonly name: string;
  readonly loop: string;
  readonly appearsAtMs: number;
  /** Sessions of an agent before one does it right; more than any limit allows for a task that nobody solves. */
  readonly hardness: number;
  readonly priority: number;
  readonly needs: readonly string[];
  /** A task whose change does not go together with this one's. */
  readonly clashesWith: string | undefined;
}

export interface Scenario {
  readonly loops: readonly LoopDefinition[];
  readonly tasks: readonly SimTask[];
  /** Uptimes at which somebody pushes to the target. */
  readonly pushesAtMs: readonly number[];
  /** Most runs at once, over all loops. */
  readonly machine: number;
  /** Uptime at which everything that disturbs ends. */
  readonly calmAtMs: number;
  /** How coarse the timers of programs are. */
  readonly grainMs: number;
}

const minuteMs = 60_000;

const triggersOf = (chance: Chance, { index, first }: { readonly index: number; readonly first: string }): readonly TriggerDefinition[] => {
  const policy = {
    overlap: chance.pick<Overlap>(['skip', 'queue', 'cancel-previous', 'allow', 'queue']),
    catchUp: chance.pick<CatchUp>([{ run: 'none' }, { run: 'once' }, { run: 'all', max: 3 }]),
    jitterMs: chance.pick([0, 0, 20_000]),
    silentAfter: 3,
  };
  if (index > 0 && chance.happens(0.3))
    return [
      {
        on: 'after',
        id: triggerId('after', [first]),
        loop: first,
        exits: chance.pick<readonly string[]>([[], ['goal-met']]),
        overlap: policy.overlap,
      },
    ];
  if (chance.happens(0.35)) {
    const cron = chance.pick(['*/2 * * * *', '1-59/4 * * * *', '1 8 * * *', '1 8 * * *']);
    return [{ on: 'schedule', id: triggerId('schedule', [cron, 'UTC']), cron, timezone: 'UTC', ...policy }];
  }
  const everyMs = chance.pick([minuteMs, 2 * minuteMs, 5 * minuteMs]);
  return [{ on: 'every', id: triggerId('every', [everyMs]), everyMs, ...policy }];
};

const loopOf = (chance: Chance, name: string, triggers: readonly TriggerDefinition[]): LoopDefinition => ({
  name,
  description: '',
  file: `.gyre/loops/${name}.md`,
  triggers,
  discover: [],
  goal: '',
  agent: chance.happens(0.7)
    ? { use: 'claude', model: undefined, effort: undefined, args: [], command: undefined }
    : { use: 'command', command: 'agent', prompt: 'file' },
  workspace: { setup: chance.happens(0.2) ? 'set-up' : undefined, setupTimeoutMs: minuteMs },
  verify: [],
  protect: [],
  stop: {
    attempts: chance.between(1, 4),
    noProgress: 2,
    sameFailure: 3,
    timeMs: 20 * minuteMs,
    budgetUsd: chance.happens(0.6) ? 0.4 : undefined,
    budgetTokens: undefined,
    sessionMs: 4 * minuteMs,
    idleMs: 2 * minuteMs,
    resultGraceMs: 5_000,
    outputBytes: 1_000_000,
  },
  land: {
    as: chance.pick(['merge', 'merge', 'merge', 'merge', 'merge', 'branch', 'patch', 'report', 'pull-request']),
    target: undefined,
    sign: 'never',
  },
  parallel: chance.between(1, 2),
  body: '',
  bodyLine: 1,
});

const tasksOf = (chance: Chance, loops: readonly LoopDefinition[], calmAtMs: number): readonly SimTask[] => {
  const names = loops.map((loop) => loop.name) as [string, ...string[]];
  const tasks: SimTask[] = [];
  const count = chance.between(1, 4);
  for (let index = 0; index < count; index += 1) {
    const loop = chance.pick(names);
    const before = tasks.filter((task) => task.loop === loop);
    const other = before.at(-1)?.name;
    tasks.push({
      name: `t${index + 1}`,
      loop,
      appearsAtMs: chance.happens(0.6) ? 0 : chance.between(0, Math.floor(calmAtMs / 2)),
      hardness: chance.pick([0, 0, 0, 1, 1, 2, 99]),
      priority: chance.between(0, 2),
      needs: other !== undefined && chance.happens(0.15) ? [other] : [],
      clashesWith: tasks.length > 0 && chance.happens(0.4) ? tasks[chance.between(0, tasks.length - 1)]?.name : undefined,
    });
  }
  return tasks;
};

export const scenarioOf = (chance: Chance): Scenario => {
  const grainMs = chance.pick([2_000, 10_000, 15_000, 30_000]);
  // The finer the grain, the more instants a minute has, and instants are what a seed costs.
  const calmAtMs = (grainMs < 10_000 ? 2 : 4) * minuteMs;
  const loops: LoopDefinition[] = [];
  const count = chance.happens(0.7) ? 2 : 3;
  for (let index = 0; index < count; index += 1)
    loops.push(loopOf(chance, `loop${index + 1}`, triggersOf(chance, { index, first: 'loop1' })));
  const tasks = tasksOf(chance, loops, calmAtMs);
  const pushesAtMs = Array.from({ length: chance.between(0, 4) }, () => chance.between(1_000, 2 * calmAtMs));
  return { loops, tasks, pushesAtMs, machine: chance.between(1, 3), calmAtMs, grainMs };
};
