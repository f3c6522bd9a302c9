import { describe, expect, test } from 'vitest';
import { createChance } from '../../sim/chance.ts';
import { createClock } from '../../sim/clock.ts';
import { everyCrashOf, replayCommand } from '../../sim/jobs.ts';
import { simulate } from '../../sim/simulate.ts';

const seeds = Array.from({ length: 150 }, (_, index) => index + 1);

describe('the simulator', () => {
  test('L5 L8 L9 L11 L13 no promise is broken in 150 worlds of crashes and disturbances', async () => {
    const failed: string[] = [];
    let died = 0;
    for (const seed of seeds) {
      const report = await simulate({ seed });
      died += Object.values(report.died).reduce((sum, count) => sum + count, 0);
      for (const { invariant, seen } of report.violations) failed.push(`${invariant} ${seen} Replay: ${replayCommand({ seed })}`);
    }
    expect(failed).toEqual([]);
    expect(died).toBeGreaterThan(100);
  });

  test('L5 a crash at every commit, before and after, changes nothing that counts', async () => {
    const failed: string[] = [];
    const jobs = await everyCrashOf(3);
    for (const job of jobs) {
      const report = await simulate(job);
      for (const { invariant, seen } of report.violations) failed.push(`${invariant} ${seen} Replay: ${replayCommand(job)}`);
      expect(Object.values(report.died)).toContain(1);
    }
    expect(failed).toEqual([]);
    expect(jobs.length).toBeGreaterThan(100);
  });

  test('P11 the same seed gives the same history', async () => {
    for (const seed of [4, 10, 12, 29]) {
      const [first, second] = [await simulate({ seed }), await simulate({ seed })];
      expect(second).toEqual(first);
    }
    const hashes = new Set((await Promise.all([1, 2, 3].map((seed) => simulate({ seed })))).map(({ hash }) => hash));
    expect(hashes.size).toBe(3);
  });

  test('P11 worlds beside each other do not touch', async () => {
    const alone = await simulate({ seed: 12 });
    const [beside] = await Promise.all([simulate({ seed: 12 }), simulate({ seed: 10 })]);
    expect(beside?.hash).toBe(alone.hash);
  });

  test('SIM-01 chance follows from seed and name alone', () => {
    const draws = (seed: number, name: string): readonly number[] => {
      const chance = createChance(seed).fork(name);
      return [chance.next(), chance.next(), chance.between(1, 6)];
    };
    expect(draws(1, 'a')).toEqual(draws(1, 'a'));
    expect(draws(1, 'a')).not.toEqual(draws(1, 'b'));
    expect(draws(1, 'a')).not.toEqual(draws(2, 'a'));
  });

  test('SIM-02 timers of a dead program never fire, those of the world do', () => {
    const clock = createClock(5_000);
    const fired: string[] = [];
    let isAlive = true;
    clock.timersOf(() => isAlive).after(200, () => fired.push('program'));
    clock.world.after(200, () => {
      fired.push('world');
      isAlive = false;
    });
    expect(clock.leap()).toBe(true);
    expect(clock.uptimeMs()).toBe(200);
    expect(clock.leap()).toBe(false);
    expect(fired).toEqual(['world']);
  });

  test('SIM-03 setting the wall clock moves no timer', () => {
    const clock = createClock(1_000);
    const before = clock.wall();
    clock.setBy(-3_600_000);
    expect(clock.wall()).toBe(before - 3_600_000);
    clock.world.after(10, () => {});
    clock.leap();
    expect(clock.uptimeMs()).toBe(10);
  });
});
