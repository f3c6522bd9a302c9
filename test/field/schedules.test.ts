// SCH: schedules and clocks, over the real command line with short real intervals. What needs years or a set clock is in test/schedule.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bringDown, bringUp, daemonPid, until } from '../server/support.ts';
import { fix, makeScene, type LedgerEntry, type Scene } from '../testkit/scene.ts';
import { lastRun } from './support.ts';

interface Record {
  readonly end: string;
  readonly reason: string;
  readonly count: number;
}

const pastOf = async (scene: Scene): Promise<readonly Record[]> =>
  (await scene.json<{ loops: readonly { past: readonly Record[] }[] }>('schedule', '--last', '1000')).loops.flatMap((loop) => loop.past);

const countOf = (records: readonly Record[], end: string): number =>
  records.filter((record) => record.end === end).reduce((sum, record) => sum + record.count, 0);

/** Start and end of every call of the agent, by the ledger. */
const intervals = (ledger: readonly LedgerEntry[]): readonly (readonly [number, number])[] =>
  ledger
    .filter((entry) => entry.kind === 'start')
    .map((start) => [start.at, ledger.find((entry) => entry.kind === 'end' && entry.call === start.call)?.at ?? Infinity] as const)
    .toSorted((a, b) => a[0] - b[0]);

describe('field reports: schedules and clocks', () => {
  test('SCH-03 L11 a run longer than its interval never gets a second copy of itself; the skipped windows are recorded', async () => {
    await using scene = await makeScene();
    // Nothing the agent does repairs it, so every tick that may start works for more than two intervals.
    const idea = (n: number) => [{ sleep: 2_500 }, { append: 'calc.mjs', text: `// idea ${n}\n` }];
    await scene.loop({ on: { every: '1s' }, agent: scene.agent([idea(1), idea(2), idea(3)]), stop: { attempts: 3, 'same-failure': 9 } });
    await bringUp(scene);
    await until(async () => (await lastRun(scene).catch(() => undefined))?.exit !== undefined);
    await bringDown(scene);
    const times = intervals(scene.ledger());
    expect(times).toHaveLength(3);
    for (const [index, [start]] of times.entries()) if (index > 0) expect(start).toBeGreaterThanOrEqual(times[index - 1]?.[1] ?? 0);
    const past = await pastOf(scene);
    expect(countOf(past, 'skipped')).toBeGreaterThan(3);
    expect(past.find((record) => record.end === 'skipped')?.reason).toContain('still runs');
  });

  test('SCH-05 L11 a daemon that was away for many windows catches up once and says how many it missed', async () => {
    await using scene = await makeScene();
    await scene.loop({ on: { every: '1s' }, agent: scene.agent([[fix]]), discover: [{ command: 'true' }] });
    await bringUp(scene);
    await until(async () => countOf(await pastOf(scene), 'fired') > 0);
    await bringDown(scene);
    const fired = countOf(await pastOf(scene), 'fired');
    await delay(6_000);
    await bringUp(scene);
    await until(async () => countOf(await pastOf(scene), 'missed') > 0);
    await bringDown(scene);
    const past = await pastOf(scene);
    expect(countOf(past, 'missed')).toBeGreaterThanOrEqual(4);
    // One window for the time away, then one a second.
    expect(countOf(past, 'fired')).toBeGreaterThan(fired);
    const stretches = past.filter((record) => record.end === 'missed');
    expect(stretches.length).toBeLessThanOrEqual(2);
  });

  test('SCH-07 time in which the whole tree stood still is charged to nobody: the agent is not ended for silence', async () => {
    await using scene = await makeScene();
    await scene.loop({
      on: { every: '1s' },
      agent: scene.agent([[{ sleep: 3_000 }, fix]]),
      stop: { idle: '6s', session: '30s' },
    });
    await bringUp(scene);
    await until(async () => scene.calls().length === 1);
    const pids = [await daemonPid(scene), ...scene.alive()];
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await delay(10_000);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    await until(async () => (await lastRun(scene)).exit !== undefined);
    await bringDown(scene);
    expect((await lastRun(scene)).exit?.exit).toBe('goal-met');
    expect(scene.calls()).toHaveLength(1);
  });
});
