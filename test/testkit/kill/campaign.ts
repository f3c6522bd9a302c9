// Kills a real daemon with SIGKILL at seeded moments, starts it again at once, and in the end lets it finish what it was given.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { isTaskRun, nowOf } from '../../../src/loop/read.ts';
import type { JournalReader } from '../../../src/journal/index.ts';
import { findingsOf } from './findings.ts';
import { everyMs, loops, makeWorld, type World } from './world.ts';

export interface Kill {
  readonly number: number;
  /** After the daemon's process was started. */
  readonly delayMs: number;
  /** What stood in the journal when it was dead. */
  readonly doing: string;
  /** Until the daemon that followed said that it is up; `undefined` for one that was killed before. */
  restartMs: number | undefined;
  /** The last acknowledged fact: it has to be there in the end. */
  readonly last: { readonly seq: number; readonly hash: string } | undefined;
}

export interface Campaign {
  readonly kills: readonly Kill[];
  readonly tasks: number;
  readonly calls: number;
  readonly ticks: number;
  readonly facts: number;
  readonly wallMs: number;
  /** What did not hold, one sentence each. */
  readonly findings: readonly string[];
}

/** Numbers in [0, 1) from a seed: mulberry32 by Tommy Ettinger (public domain). */
const numbersOf = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

interface Moment {
  /** So many facts after the daemon said that it is up; `undefined` for a moment of its start. */
  readonly facts: number | undefined;
  /** Then so much later. */
  readonly ms: number;
}

/**
 * Counted in facts, so that the kills are spread over set-up, agent, verdict, landing and idling whatever the speed of the machine: lives
 * that are too short to do anything, and long ones.
 */
const nextMoment = (chance: () => number): Moment => {
  const kind = chance();
  const within = chance();
  const ms = chance();
  if (kind < 0.2) return { facts: undefined, ms: 20 + ms * 700 };
  const [from, to] = kind < 0.6 ? [0, 20] : [20, 80];
  return { facts: Math.round(from + within * (to - from)), ms: ms * 120 };
};

const lifeMs = 10_000;
const lookMs = 20;

/** Resolves when the moment to kill has come. */
const momentOf = async (world: World, life: Life, moment: Moment): Promise<void> => {
  const { facts: wanted } = moment;
  if (wanted !== undefined) {
    await Promise.race([life.up, life.ended]);
    const until = Date.now() + lifeMs;
    await world.readAwhile(async (reader) => {
      const begun = reader.health().facts;
      while (reader.health().facts - begun < wanted && Date.now() < until && life.child.exitCode === null) await delay(lookMs);
    });
  }
  await Promise.race([delay(moment.ms), life.ended]);
};

const doingOf = (reader: JournalReader): string => {
  const open = reader.runs({ states: ['pending', 'running'] });
  const stages = open.filter(isTaskRun).map((row) => nowOf(row)?.stage ?? 'opening');
  const counts = [...new Set(stages)].toSorted().map((stage) => `${stages.filter((one) => one === stage).length} ${stage}`);
  const ticks = open.length - stages.length;
  const last = reader.facts({ afterSeq: reader.health().facts - 1 }).at(-1);
  const key = (last?.data as { readonly key?: string } | null | undefined)?.key;
  return `${ticks} ticks, runs: ${counts.join(' ') || 'none'}; last fact ${last?.kind ?? 'none'}${key === undefined ? '' : ` ${key.slice(0, 60)}`}`;
};

const lastFact = (reader: JournalReader): Kill['last'] => {
  const fact = reader.facts({ afterSeq: reader.health().facts - 1 }).at(-1);
  return fact === undefined ? undefined : { seq: fact.seq, hash: fact.hash };
};

const openTasksPerLoop = 4;

/** Keeps enough undone tasks in both lists. */
const topUp = (world: World): void => {
  const ended =
    world.read((reader) =>
      reader
        .runs({ states: ['done', 'failed', 'cancelled'] })
        .filter(isTaskRun)
        .map((row) => row.dedupeKey),
    ) ?? [];
  for (const loop of loops) {
    const keys = world.given.get(loop) ?? [];
    const undone = keys.filter((key) => !ended.some((name) => name.endsWith(`item:${key}`))).length;
    if (undone < openTasksPerLoop) world.give(loop, openTasksPerLoop - undone);
  }
};

interface Life {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly up: Promise<void>;
  readonly begunAt: number;
  readyMs: number | undefined;
  said: string;
}

const begin = (world: World): Life => {
  const child = world.daemon();
  const begunAt = performance.now();
  const { promise: up, resolve: isUp } = Promise.withResolvers<void>();
  const life: Life = { child, ended: once(child, 'exit'), up, begunAt, readyMs: undefined, said: '' };
  child.stdout?.on('data', (chunk: Buffer) => {
    if (!chunk.includes('Gyre is up')) return;
    life.readyMs ??= Math.round(performance.now() - begunAt);
    isUp();
  });
  child.stderr?.on('data', (chunk: Buffer) => (life.said = (life.said + chunk.toString('utf8')).slice(-2_000)));
  return life;
};

const endMs = 300_000;
const idleTicks = 2;
const downMs = 60_000;

/** The last life: no kill, no new tasks, until every task that was given has ended. @returns what did not come */
const letItEnd = async (world: World): Promise<readonly string[]> => {
  const life = begin(world);
  const wanted = loops.reduce((sum, loop) => sum + (world.given.get(loop)?.length ?? 0), 0);
  const until = Date.now() + endMs;
  const isDone = (): boolean =>
    world.read((reader) => {
      const runs = reader.runs().filter(isTaskRun);
      return runs.length >= wanted && runs.every((row) => row.endedAt !== undefined);
    }) === true;
  while (!isDone() && Date.now() < until && life.child.exitCode === null) await delay(200);
  const problems: string[] = [];
  if (life.child.exitCode !== null) problems.push(`the daemon ended by itself with ${life.child.exitCode}: ${life.said}`);
  else if (!isDone()) problems.push(`not every task has ended within ${endMs / 1_000} s`);
  await delay(everyMs * idleTicks);
  if (life.child.exitCode === null) {
    life.child.kill('SIGTERM');
    await Promise.race([life.ended, delay(downMs)]);
    if (life.child.exitCode !== 0) problems.push(`asked to end, the daemon ended with ${life.child.exitCode ?? life.child.signalCode}`);
  }
  return problems;
};

export interface CampaignOptions {
  readonly points: number;
  readonly seed: number;
  /** Called for every kill, once what followed it is known. */
  readonly told: (kill: Kill) => void;
  /** Called before the world is thrown away when something did not hold. */
  readonly keep?: (world: World) => void;
}

export const playKills = async (options: CampaignOptions): Promise<Campaign> => {
  const world = makeWorld();
  try {
    return await playIn(world, options);
  } finally {
    world[Symbol.dispose]();
  }
};

const playIn = async (world: World, options: CampaignOptions): Promise<Campaign> => {
  const { points, seed, told } = options;
  const begun = performance.now();
  const chance = numbersOf(seed);
  const checkout = world.checkout();
  const kills: Kill[] = [];
  const problems: string[] = [];
  for (let number = 1; number <= points; number += 1) {
    const moment = nextMoment(chance);
    topUp(world);
    const life = begin(world);
    await momentOf(world, life, moment);
    const delayMs = Math.round(performance.now() - life.begunAt);
    if (life.child.exitCode !== null) problems.push(`before kill ${number} the daemon ended with ${life.child.exitCode}: ${life.said}`);
    life.child.kill('SIGKILL');
    await life.ended;
    const before = kills.at(-1);
    if (before !== undefined) {
      before.restartMs = life.readyMs;
      told(before);
    }
    const seen = world.read((reader) => ({ doing: doingOf(reader), last: lastFact(reader) }));
    kills.push({
      number,
      delayMs,
      doing: `${life.readyMs === undefined ? 'starting; ' : ''}${seen?.doing ?? 'no journal yet'}`,
      last: seen?.last,
      restartMs: undefined,
    });
  }
  problems.push(...(await letItEnd(world)));
  const last = kills.at(-1);
  if (last !== undefined) told(last);
  const findings = [...problems, ...(await findingsOf(world, { checkout, kills }))];
  if (findings.length > 0) options.keep?.(world);
  const counts = world.read((reader) => ({ ticks: reader.runs({ loop: 'tick' }).length, facts: reader.health().facts }));
  return {
    kills,
    tasks: loops.reduce((sum, loop) => sum + (world.given.get(loop)?.length ?? 0), 0),
    calls: world.calls().length,
    ticks: counts?.ticks ?? 0,
    facts: counts?.facts ?? 0,
    wallMs: performance.now() - begun,
    findings,
  };
};
