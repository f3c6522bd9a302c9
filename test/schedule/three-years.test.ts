// The long run: schedules and intervals of four zones over three years of simulated time, with sleeps, clocks set ahead and back, and
// processes that die before and after a tick is on disk. What must hold: no window has two ticks, none is without an end, none has two.

import { expect, test } from 'vitest';
import { isTimeTrigger, type TimeTrigger } from '../../src/core/trigger.ts';
import { windowTimes } from '../../src/schedule/index.ts';
import { at, dayMs, every, hourMs, loopOf, minuteMs, schedule, World } from './world.ts';

/** Mulberry32: the same seed, the same run. */
const chanceOf = (seed: number) => {
  let a = seed;
  return (): number => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
};

const loops = [
  loopOf('berlin', schedule('30 2 * * *', 'Europe/Berlin', { overlap: 'queue' })),
  loopOf('york', schedule('0 */6 * * *', 'America/New_York', { catchUp: { run: 'all', max: 3 } })),
  loopOf('howe', schedule('15 2 * * *', 'Australia/Lord_Howe', { catchUp: { run: 'none' } })),
  loopOf('kolkata', schedule('0 9,18 * * 1-5', 'Asia/Kolkata', { jitterMs: 20 * minuteMs, overlap: 'allow' })),
  loopOf('often', every(6 * hourMs, { overlap: 'cancel-previous' })),
];

interface Span {
  readonly loop: string;
  readonly trigger: TimeTrigger;
}

test('P5 L11 three years in four zones: no window twice, none unaccounted for', async () => {
  const seed = 1;
  const chance = chanceOf(seed);
  const world = new World('2024-01-01T00:00:00Z');
  world.tickMs = 5 * minuteMs;
  const counts = { windows: 0, fired: 0, skipped: 0, missed: 0, superseded: 0, restarts: 0, crashes: 0, sleeps: 0, ahead: 0, back: 0 };
  let isArmed = false;
  world.onStart = (when) => {
    if (!isArmed || world.isDead || chance() < 0.5) return;
    isArmed = false;
    world.isDead = true;
    counts.crashes += 1;
    throw new Error(`The process died ${when} the tick was on disk.`);
  };
  // Every window that ever ended, as the last word on it says: pruned records count too.
  const ends = new Map<string, { end: string; from: number; to: number; count: number; loop: string }>();
  world.onPut = (entries) => {
    for (const { register, key, value } of entries) {
      if (register !== 'windows') continue;
      if (value !== undefined) ends.set(key, value as never);
      // A record that is taken back by the clock, not one that goes for its age.
      else if (Date.parse(key.slice(key.lastIndexOf('/') + 1)) > world.now) ends.delete(key);
    }
  };
  const restart = async (): Promise<void> => {
    world.die();
    counts.restarts += 1;
    await world.start(loops);
  };

  await world.start(loops);
  const end = at('2027-01-01T00:00:00Z');
  let aheadMs = 0;
  while (world.now < end) {
    const kind = chance();
    if (kind < 0.03) {
      world.die();
      await world.passQuickly(Math.floor(chance() * 3 * dayMs));
      await restart();
    } else if (kind < 0.08) isArmed = true;
    else if (kind < 0.12) {
      counts.sleeps += 1;
      world.jump(Math.floor(chance() * 30 * hourMs));
    } else if (kind < 0.14 && aheadMs === 0) {
      counts.ahead += 1;
      aheadMs = Math.floor(chance() * 40 * hourMs);
      world.jump(aheadMs);
    } else if (kind < 0.2 && aheadMs > 0) {
      counts.back += 1;
      world.jump(-aheadMs);
      aheadMs = 0;
    }
    // Some ticks take longer than their loop's interval.
    world.tickMs = chance() < 0.05 ? 7 * hourMs : 5 * minuteMs;
    await world.passQuickly(Math.floor(chance() * 14 * hourMs));
    if (world.isDead) await restart();
  }
  isArmed = false;
  await restart();
  await world.passQuickly(hourMs);
  await world.scheduler?.stop();

  // No window twice: the fake engine starts an id once, so ask how often each instant of a loop was started.
  const ids = world.started.map(({ window }) => window.id);
  expect(new Set(ids).size).toBe(ids.length);

  const problems: string[] = [];
  const all: readonly Span[] = loops.flatMap(({ name, triggers }) =>
    triggers.filter(isTimeTrigger).map((trigger) => ({ loop: name, trigger })),
  );
  for (const { loop, trigger } of all) {
    const times = windowTimes(trigger);
    const state = world.registers.get('triggers', `${loop}/${trigger.id}`)?.value as {
      accountedUntil: number;
      pending: readonly { window: { at: number } }[];
    };
    const records = [...ends.values()].filter((record) => record.loop === loop).sort((a, b) => a.from - b.from);
    const endOf = new Map<number, string[]>();
    for (const record of records) {
      const inside = times.between((record.from - 1) as never, record.to as never, Infinity).newest;
      if (inside.length !== record.count)
        problems.push(`${loop}: a record counts ${record.count} windows where there are ${inside.length}`);
      for (const instant of inside) endOf.set(instant, [...(endOf.get(instant) ?? []), record.end]);
      counts[record.end as 'fired'] += record.count;
    }
    const waiting = new Set(state.pending.map(({ window }) => window.at));
    for (let next = times.next(at('2024-01-01T00:00:00Z')); next !== undefined && next <= state.accountedUntil; next = times.next(next)) {
      counts.windows += 1;
      const found = endOf.get(next) ?? [];
      if (found.length !== 1 && !(found.length === 0 && waiting.has(next)))
        problems.push(`${loop}: ${new Date(next).toISOString()} has ${found.length} ends`);
    }
    const fired = [...endOf].filter(([, [only]]) => only === 'fired').map(([instant]) => instant);
    const ticked = new Set(world.started.filter(({ window }) => window.loop === loop).map(({ window }) => window.at as number));
    for (const instant of fired)
      if (!ticked.has(instant)) problems.push(`${loop}: ${new Date(instant).toISOString()} fired without a tick`);
    for (const instant of ticked)
      if (endOf.get(instant)?.[0] !== 'fired') problems.push(`${loop}: ${new Date(instant).toISOString()} has a tick and no such end`);
  }
  process.stdout.write(`  seed ${seed}: ${JSON.stringify(counts)}\n`);
  expect(problems).toEqual([]);
  expect(counts.windows).toBeGreaterThan(10_000);
  for (const kind of ['crashes', 'sleeps', 'ahead', 'back', 'missed', 'skipped'] as const) expect(counts[kind], kind).toBeGreaterThan(0);
});
