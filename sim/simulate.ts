// One seed from its first second to its rest: chaos, then calm, then the books are checked.
import { DatabaseSync } from 'node:sqlite';
import { isTaskRun, outputOf } from '../src/loop/index.ts';
import { checkParked, checkRest } from './check-end.ts';
import { checkWindows } from './check-windows.ts';
import { migrate, schemaVersion } from '../src/journal/schema.ts';
import { createChance } from './chance.ts';
import { createClock } from './clock.ts';
import { crashByChance, crashOnce, type CrashPlan, type CrashPoint, neverCrash } from './crash.ts';
import { disturb } from './disturb.ts';
import { createDriver } from './driver.ts';
import type { InvariantName, Violation } from './invariants.ts';
import { type Ground, type Life, startLife } from './life.ts';
import { createMachine } from './machine.ts';
import { programsOf } from './programs.ts';
import type { Sabotage } from './sabotage.ts';
import { scenarioOf } from './scenario.ts';
import { createTrace } from './trace.ts';
import { createWatch } from './watch.ts';
import { createWorld } from './world.ts';

export interface SimulateOptions {
  readonly seed: number;
  /** One crash at this point instead of crashes by chance, and nothing else that disturbs; `never`: not even that. */
  readonly crash?: { readonly point: CrashPoint; readonly count: number } | 'never';
  readonly sabotage?: Sabotage;
  readonly show?: (line: string) => void;
}

export interface SeedReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** The newest lines of what happened, when something is wrong. */
  readonly last: readonly string[];
  /** Equal for equal histories (P11). */
  readonly hash: string;
  readonly passed: CrashPlan['passed'];
  readonly died: CrashPlan['died'];
  readonly disturbed: Readonly<Record<string, number>>;
  readonly lives: number;
  readonly ticks: number;
  readonly runs: number;
  readonly exits: Readonly<Record<string, number>>;
  readonly landings: number;
  readonly sessions: number;
  readonly commits: number;
  readonly effects: number;
  readonly virtualMs: number;
}

/** What waits until T goes on before T + 60 s; the rest is for the start of a last life. */
const settleMs = 75_000;
const restMs = 3 * 3_600_000;
/** Lives that the end of a seed may take; more is an engine that dies by itself. */
const lastLives = 4;
/** Violations of one kind that are kept. */
const sameMax = 3;

export const simulate = async (options: SimulateOptions): Promise<SeedReport> => {
  const { seed, sabotage } = options;
  const chance = createChance(seed);
  const scenario = scenarioOf(chance.fork('scenario'));
  const clock = createClock(scenario.grainMs);
  const trace = createTrace(() => `${(clock.uptimeMs() / 1_000).toFixed(1)}s`, options.show);
  const violations: Violation[] = [];
  const accuse = (invariant: InvariantName, seen: string): void => {
    trace.say(`${invariant}: ${seen}`);
    if (violations.filter((one) => one.invariant === invariant).length < sameMax) violations.push({ invariant, seen });
  };

  const isCalm = (): boolean => clock.uptimeMs() >= scenario.calmAtMs;
  const crash =
    options.crash === undefined
      ? crashByChance(chance.fork('crash'), { probability: chance.fork('rate').pick([0, 0.006, 0.015, 0.03]), isCalm })
      : options.crash === 'never'
        ? neverCrash()
        : crashOnce(options.crash);
  const world = createWorld(scenario.tasks, chance.fork('world'));
  const counts = { effect: 0, commit: 0 };
  const disturbed: Record<string, number> = {};
  let loops = scenario.loops;

  const parallel = new Map<string, number>(loops.map((loop) => [loop.name, 2]));
  const machine = createMachine(clock, programsOf(clock, world), {
    started: (process) => {
      trace.say(`${process.spec.command} starts in ${process.jobDir}`);
      watch.processStarted(process);
    },
    ended: (process) => trace.say(`${process.spec.command} in ${process.jobDir} ends: ${process.result?.end ?? ''}`),
  });
  const db = new DatabaseSync(':memory:');
  // The journal's tables are made before the watch can read them.
  const ground: Omit<Ground, 'watch'> = {
    db,
    clock,
    world,
    machine,
    crash,
    chance: chance.fork('engine'),
    trace,
    loops: () => loops,
    machineLimit: scenario.machine,
    calmAtMs: scenario.calmAtMs,
    disk: { refusals: 0 },
    count: (what) => {
      counts[what] += 1;
    },
    sabotage,
  };
  migrate(db, schemaVersion(db));
  const watch = createWatch({
    db,
    world,
    alive: () => machine.alive(),
    reader: () => driver.life()?.engine()?.reader,
    limits: { machine: scenario.machine, loops: parallel },
    accuse,
    told: ({ kind, run }) => trace.say(`fact ${kind} ${run}`),
  });

  const driver = createDriver({
    clock,
    activity: () => counts.effect + counts.commit,
    start: () => startLife({ ...ground, watch }),
    downMs: (nth) => (nth === 1 ? 0 : chance.fork(`down/${nth}`).pick([100, 3_000, 3_000, 45_000, 240_000])),
    isCalm,
    accuse,
  });
  const { life, runUntil, finish } = driver;

  for (const at of scenario.pushesAtMs)
    clock.world.after(at, () => world.push(world.commitOn(world.head(), { done: [], isBroken: false, tree: 'push' })));
  if (options.crash === undefined) {
    disturb(
      {
        chance: chance.fork('disturb'),
        clock,
        world,
        machine,
        trace,
        watch,
        disk: ground.disk,
        life,
        loops: () => loops,
        setLoops: (next) => {
          loops = next;
        },
      },
      { calmAtMs: scenario.calmAtMs, happened: (kind) => (disturbed[kind] = (disturbed[kind] ?? 0) + 1) },
    );
  }

  await runUntil(isCalm);
  trace.say('calm');
  // What people paused they let go on.
  await runUntil(() => life()?.isUp() === true);
  for (const row of life()
    ?.engine()
    ?.reader.runs({ states: ['paused'] }) ?? [])
    await finish(life()?.engine()?.resume(row.id));
  const settledAt = clock.uptimeMs() + settleMs;
  await runUntil(() => clock.uptimeMs() >= settledAt);
  // The one crash of a base world may come as late as here: then once more, with the life that follows.
  const undisturbed = async (work: (worker: Life) => Promise<unknown> | undefined): Promise<Life | undefined> => {
    for (let tries = 0; tries < lastLives; tries += 1) {
      const isThere = await runUntil(() => life()?.isUp() === true);
      const worker = life();
      if (!isThere || worker === undefined) break;
      await finish(work(worker));
      if (worker.isAlive()) return worker;
    }
    accuse('INV-18', `The engine does not stay up: ${String(life()?.problem())}`);
    return undefined;
  };
  const looked = await undisturbed((worker) => worker.scheduler()?.look());
  if (looked !== undefined) {
    const { reader } = looked.engine() ?? {};
    if (reader !== undefined) {
      checkParked({ reader, now: clock.wall(), accuse });
      checkWindows({ reader, loops, now: clock.wall(), accuse });
    }
  }
  const restAt = clock.uptimeMs() + restMs;
  const rested = await undisturbed(async (worker) => {
    await worker.stopTriggers();
    // A pause may have waited for the disk, and come after the others were let go on.
    for (const row of worker.engine()?.reader.runs({ states: ['paused'] }) ?? []) await worker.engine()?.resume(row.id);
    const open = (): number => worker.engine()?.reader.runs({ states: ['pending', 'running'] }).length ?? 0;
    const timers = clock.timersOf(() => worker.isAlive());
    while ((open() > 0 || machine.alive().length > 0) && clock.uptimeMs() < restAt)
      await new Promise<void>((resolve) => void timers.after(1_000, resolve));
  });
  const engine = rested?.engine();
  if (engine !== undefined) {
    const stopped = engine.health().stopped;
    if (stopped !== undefined) accuse('INV-18', `The engine has stopped: ${stopped.message}`);
    checkRest({ reader: engine.reader, ledger: watch.ledger, world, alive: machine.alive(), loops, now: clock.wall(), accuse });
  }

  const rows = engine?.reader.runs() ?? [];
  const exits: Record<string, number> = {};
  for (const row of rows.filter(isTaskRun)) {
    const { exit } = row.endedAt === undefined ? { exit: { exit: row.state } as const } : outputOf(row);
    const name = 'by' in exit ? `stopped: ${exit.by}` : exit.exit;
    exits[name] = (exits[name] ?? 0) + 1;
  }
  const head = String(db.prepare("SELECT value FROM meta WHERE key = 'head'").get()?.['value'] ?? '');
  const report: SeedReport = {
    seed,
    violations,
    last: violations.length === 0 ? [] : trace.last(60),
    hash: trace.hash(`${head}\n${JSON.stringify(world.landings)}`),
    passed: crash.passed,
    died: crash.died,
    disturbed,
    lives: driver.lives(),
    ticks: rows.filter((row) => !isTaskRun(row)).length,
    runs: rows.filter(isTaskRun).length,
    exits,
    landings: world.landings.length,
    sessions: world.sessions.length,
    commits: counts.commit,
    effects: counts.effect,
    virtualMs: clock.uptimeMs(),
  };
  life()?.die('the end');
  await driver.settle();
  db.close();
  return report;
};
