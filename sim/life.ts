// One life of the daemon, as the command line joins it, over the simulated world: engine, dispatcher, schedule, parked runs. It ends by a
// crash, which leaves nothing but the database and the world, or by an orderly close.
import type { DatabaseSync } from 'node:sqlite';
import type { LoopDefinition } from '../src/core/loop-definition.ts';
import { openEngineWith } from '../src/journal/open-engine.ts';
import type { Engine, LoopHandler, RunContext } from '../src/journal/index.ts';
import {
  createBreakers,
  createDispatcher,
  createTaskClaims,
  createTaskRun,
  createTick,
  createTickDesk,
  type Dispatcher,
  interrupted,
  type LoopParts,
  parkInterrupted,
  type TickReporter,
  watchParked,
} from '../src/loop/index.ts';
import { createScheduler, type Registers, type Scheduler } from '../src/schedule/index.ts';
import type { Chance } from './chance.ts';
import type { Clock } from './clock.ts';
import type { CrashPlan } from './crash.ts';
import { fakeParts, type WorldParts } from './fake-parts.ts';
import { fakeProcesses } from './fake-processes.ts';
import type { Machine } from './machine.ts';
import type { Sabotage } from './sabotage.ts';
import { sabotageLife } from './sabotage-life.ts';
import { createStage } from './stage.ts';
import type { Trace } from './trace.ts';
import type { Watch } from './watch.ts';
import type { World } from './world.ts';

export interface Ground {
  readonly db: DatabaseSync;
  readonly clock: Clock;
  readonly world: World;
  readonly machine: Machine;
  readonly crash: CrashPlan;
  readonly chance: Chance;
  readonly trace: Trace;
  readonly watch: Watch;
  /** The loops as their files say now. */
  readonly loops: () => readonly LoopDefinition[];
  readonly machineLimit: number;
  readonly calmAtMs: number;
  /** A disk that refuses the next so many commits. */
  readonly disk: { refusals: number };
  /** Counts effects and commits, for the driver. */
  readonly count: (what: 'effect' | 'commit') => void;
  readonly sabotage: Sabotage | undefined;
}

export interface Life {
  isAlive(): boolean;
  /** It has come up, and is not on its way down. */
  isUp(): boolean;
  /** Set once the engine is open. */
  engine(): Engine | undefined;
  dispatcher(): Dispatcher | undefined;
  handlers(): { readonly tick: LoopHandler; readonly task: LoopHandler } | undefined;
  scheduler(): Scheduler | undefined;
  /** Ends it as kill -9 does. */
  die(why: string): void;
  /** Ends it as `gyre down` does. */
  close(policy: 'finish' | 'park' | 'checkpoint'): Promise<void>;
  /** Starts nothing more of itself: no window, no parked run. */
  stopTriggers(): Promise<void>;
  /** Why it did not come up. */
  problem(): unknown;
}

/** How long an orderly end waits for the runs. */
const finishMs = 100_000;

const identity = { pid: 4_194_000, startTime: '1', bootId: 'simulated' };

const diskFull = (): Error => Object.assign(new Error('database or disk is full'), { errcode: 13 });

/** Shows each effect of a handler's steps before it is performed. */
const watched = (handler: LoopHandler, watch: Watch): LoopHandler => ({
  ...handler,
  handle: (context, input) => {
    const step = (key: string, isCleanup = false): void =>
      watch.performs({ run: context.run.id, generation: context.run.generation, key, isCleanup });
    const seen: RunContext = {
      ...context,
      step: (key, options, effect) =>
        context.step(key, options, (inner) => {
          step(key);
          return effect(inner);
        }),
      cleanup: (key, effect) =>
        context.cleanup(key, () => {
          step(key, true);
          return effect();
        }),
    };
    return handler.handle(seen, input);
  },
});

const registersOf = (engine: Engine): Registers => ({
  get: (register, key) => engine.reader.registerEntry(register, key),
  list: (register, filter) => engine.reader.register(register, filter),
  put: (changes) => engine.put(changes),
});

export const startLife = (ground: Ground): Life => {
  const { db, clock, world, machine, crash, trace, watch, loops, disk, count } = ground;
  let alive = true;
  let engine: Engine | undefined;
  let dispatcher: Dispatcher | undefined;
  let handlers: { readonly tick: LoopHandler; readonly task: LoopHandler } | undefined;
  let scheduler: Scheduler | undefined;
  let stopParked: (() => void) | undefined;
  let problem: unknown;
  let isClosing = false;

  const die = (why: string): void => {
    if (!alive) return;
    alive = false;
    trace.say(`dies: ${why}`);
    machine.ownerDied();
  };
  const timers = clock.timersOf(() => alive);
  const after = (ms: number, act: () => void): { cancel(): void } => timers.after(ms, act);
  const stage = createStage({ clock, trace, crash, isAlive: () => alive, die, count: () => count('effect') });
  const broken = sabotageLife(ground.sabotage, { stage, db, calmAtMs: ground.calmAtMs });
  const crashed = (): Error => new Error('The simulated engine is dead.');

  const beforeCommit = (): void => {
    if (!alive) throw crashed();
    if (broken.isDiskLost()) throw diskFull();
    if (disk.refusals > 0) {
      disk.refusals -= 1;
      throw diskFull();
    }
    if (!crash.asks('before-commit')) return;
    die('before-commit');
    throw crashed();
  };
  const afterCommit = (): void => {
    count('commit');
    watch.committed();
    watch.landed();
    if (!crash.asks('after-commit')) return;
    die('after-commit');
    throw crashed();
  };

  const reporter: TickReporter = (context) => (event) =>
    trace.say(`${context.run.id}: ${event.event}${event.event === 'skipped' ? ` ${event.task.key}: ${event.why}` : ''}`);

  const open = async (): Promise<void> => {
    const processes = fakeProcesses(stage, machine);
    const honest: WorldParts = fakeParts({ stage, world, machine, processes, chance: ground.chance });
    broken.beforeOpen();
    engine = await openEngineWith(
      { stateHome: '/simulated', processes: broken.processes(processes), clock: clock.wall, chance: ground.chance.next, timers },
      { memory: { db, identity }, beforeCommit, afterCommit },
    );
    const parts: LoopParts = { ...broken.parts(honest), engine: broken.engine(engine), reader: engine.reader };
    const task = watched(broken.taskHandler(createTaskRun(parts, reporter)), watch);
    dispatcher = createDispatcher(parts, {
      handler: task,
      breakers: createBreakers(parts),
      // Its tasks have no name outside, so that nothing is claimed.
      claims: createTaskClaims({
        open: () => Promise.reject(crashed()),
        stateHome: '/simulated',
        self: () => identity,
        after,
      }),
      limits: {
        machine: broken.machineLimit(ground.machineLimit),
        perLoop: {},
        perAgent: {},
        perProvider: {},
        gapMs: 0,
        startsPerMinute: undefined,
        loadPerCpuMax: undefined,
        freeMemoryBytesMin: undefined,
      },
      weights: {},
      machine: () => ({ loadPerCpu: 0, freeMemoryBytes: 1e12 }),
      after,
    });
    const tick = watched(createTick(parts, dispatcher, reporter), watch);
    handlers = { tick, task };
    const recovered = await engine.serve([tick, task]);
    for (const handle of recovered) dispatcher.take(handle);
    const desk = createTickDesk({
      engine,
      tick,
      recovered,
      definitionOf: async (name) => loops().find((loop) => loop.name === name),
      prefix: '',
    });
    scheduler = createScheduler({
      loops: loops(),
      registers: broken.registers(registersOf(engine)),
      ticks: broken.ticks(desk),
      clock: clock.wall,
      timers,
      repository: undefined,
      env: {},
      server: { host: '127.0.0.1', port: 0 },
      report: (report) =>
        trace.say(`schedule: ${report.kind}${report.kind === 'window-ended' ? ` ${report.window} ${report.record.end}` : ''}`),
    });
    desk.onEnded(() => scheduler?.tickEnded());
    await scheduler.start();
    stopParked = watchParked({ engine, desk: broken.desk(desk), clock: clock.wall, timers, tell: (sentence) => trace.say(sentence) });
    trace.say('is up');
  };

  const stopTriggers = async (): Promise<void> => {
    stopParked?.();
    await scheduler?.stop();
  };

  const close: Life['close'] = async (policy) => {
    if (engine === undefined || dispatcher === undefined || isClosing) return;
    isClosing = true;
    await stopTriggers();
    if (policy !== 'checkpoint') {
      dispatcher.close('the engine is ending');
      const isBusy = (): boolean => engine !== undefined && engine.health().executing > 0;
      const until = clock.uptimeMs() + finishMs;
      if (policy === 'finish') while (isBusy() && clock.uptimeMs() < until) await stage.pause(5_000);
      const left = engine.reader.runs({ states: ['running', 'pending'] }).map((run) => run.id);
      await engine.cancelAll(interrupted);
      await parkInterrupted({ engine, clock: clock.wall }, left);
    }
    await engine[Symbol.asyncDispose]();
    trace.say(`is down (${policy})`);
    alive = false;
    machine.ownerDied();
  };

  open().catch((error: unknown) => {
    if (!alive) return;
    problem = error;
    die(`could not come up: ${error instanceof Error ? error.message : String(error)}`);
  });

  return {
    isAlive: () => alive,
    isUp: () => alive && !isClosing && stopParked !== undefined,
    engine: () => engine,
    dispatcher: () => dispatcher,
    handlers: () => handlers,
    scheduler: () => scheduler,
    die,
    close,
    stopTriggers,
    problem: () => problem,
  };
};
