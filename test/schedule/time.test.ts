import { afterEach, describe, expect, test } from 'vitest';
import { at, every, hourMs, loopOf, minuteMs, schedule, World } from './world.ts';

let world: World;
afterEach(async () => {
  await world.scheduler?.stop();
});

describe('daylight saving', () => {
  test('SCH-01 a daily window whose local time exists twice fires once', async () => {
    world = new World('2026-10-24T12:00:00Z');
    await world.start([loopOf('nightly', schedule('30 2 * * *', 'Europe/Berlin'))]);
    await world.passTo('2026-10-26T12:00:00Z');
    expect(world.fired()).toEqual(['2026-10-25T00:30Z', '2026-10-26T01:30Z']);
    expect(world.ends()).toEqual(['fired 2026-10-25T00:30Z', 'fired 2026-10-26T01:30Z']);
  });

  test('SCH-01 a scheduler that starts between the two does not fire the second', async () => {
    world = new World('2026-10-25T00:45:00Z');
    await world.start([loopOf('nightly', schedule('*/15 2 * * *', 'Europe/Berlin'))]);
    await world.passTo('2026-10-25T12:00:00Z');
    expect(world.fired()).toEqual([]);
  });

  test('SCD-01 a local time in the gap fires at the first instant after it', async () => {
    world = new World('2026-03-28T12:00:00Z');
    await world.start([loopOf('nightly', schedule('30 2 * * *', 'Europe/Berlin'))]);
    await world.passTo('2026-03-30T12:00:00Z');
    expect(world.fired()).toEqual(['2026-03-29T01:00Z', '2026-03-30T00:30Z']);
  });

  test('SCD-01 steps within the missing hour have no window that day', async () => {
    world = new World('2026-03-28T12:00:00Z');
    await world.start([loopOf('nightly', schedule('*/30 2 * * *', 'Europe/Berlin'))]);
    await world.passTo('2026-03-30T00:10:00Z');
    expect(world.fired()).toEqual(['2026-03-30T00:00Z']);
  });

  test('SCD-02 every hour means every hour that passes: both of the repeated hour, none of the missing one', async () => {
    world = new World('2026-10-24T23:45:00Z');
    await world.start([loopOf('hourly', schedule('30 * * * *', 'Europe/Berlin'))]);
    await world.passTo('2026-10-25T03:00:00Z');
    expect(world.fired()).toEqual(['2026-10-25T00:30Z', '2026-10-25T01:30Z', '2026-10-25T02:30Z']);
  });

  test('SCD-03 a zone that moves by half an hour keeps its local time', async () => {
    world = new World('2026-10-02T00:00:00Z');
    await world.start([loopOf('daily', schedule('0 9 * * *', 'Australia/Lord_Howe'))]);
    await world.passTo('2026-10-05T00:00:00Z');
    expect(world.fired()).toEqual(['2026-10-02T22:30Z', '2026-10-03T22:00Z', '2026-10-04T22:00Z']);
  });

  test('SCD-03 an interval knows no daylight saving', async () => {
    world = new World('2026-10-24T12:00:00Z');
    await world.start([loopOf('often', every(6 * hourMs))]);
    await world.passTo('2026-10-25T13:00:00Z');
    expect(world.fired()).toEqual(['2026-10-24T18:00Z', '2026-10-25T00:00Z', '2026-10-25T06:00Z', '2026-10-25T12:00Z']);
  });
});

describe('overlap', () => {
  test('SCH-03 a tick longer than its interval gets no second copy; what was skipped is recorded', async () => {
    world = new World('2026-01-01T00:00:01Z');
    world.tickMs = 12_000;
    await world.start([loopOf('often', every(5000, { overlap: 'skip' }))]);
    await world.pass(40_000);
    const spans = world.started.map(({ startedAt, endsAt }) => ({ startedAt, endsAt }));
    expect(spans.length).toBeGreaterThanOrEqual(3);
    for (const [index, span] of spans.entries()) expect(span.startedAt).toBeGreaterThanOrEqual(spans[index - 1]?.endsAt ?? 0);
    expect(world.records().map(({ end }) => end)).toEqual([
      'fired',
      'skipped',
      'skipped',
      'fired',
      'skipped',
      'skipped',
      'fired',
      'skipped',
    ]);
    expect(world.records()[1]?.reason).toBe(`The tick ${world.started[0]?.window.id} still runs, and overlap is skip.`);
  });

  test('SCH-03 queue keeps one window waiting, and a newer one supersedes it', async () => {
    world = new World('2026-01-01T00:00:01Z');
    world.tickMs = 12_000;
    await world.start([loopOf('often', every(5000, { overlap: 'queue' }))]);
    await world.pass(40_000);
    const spans = world.started.map(({ startedAt, endsAt }) => ({ startedAt, endsAt }));
    for (const [index, span] of spans.entries()) expect(span.startedAt).toBeGreaterThanOrEqual(spans[index - 1]?.endsAt ?? 0);
    expect(world.records().map(({ end }) => end)).toEqual([
      'fired',
      'superseded',
      'fired',
      'superseded',
      'fired',
      'superseded',
      'superseded',
    ]);
  });

  test('SCD-04 cancel-previous ends the running tick, and starts when it has ended', async () => {
    world = new World('2026-01-01T00:00:01Z');
    world.tickMs = hourMs;
    await world.start([loopOf('often', every(5000, { overlap: 'cancel-previous' }))]);
    await world.pass(17_500);
    expect(world.cancelled).toEqual([world.started[0]?.window.id, world.started[1]?.window.id]);
    expect(world.records().map(({ end }) => end)).toEqual(['fired', 'fired', 'fired']);
  });

  test('SCD-04 allow starts each beside the other', async () => {
    world = new World('2026-01-01T00:00:01Z');
    world.tickMs = hourMs;
    await world.start([loopOf('often', every(5000, { overlap: 'allow' }))]);
    await world.pass(15_000);
    expect(world.records().map(({ end }) => end)).toEqual(['fired', 'fired', 'fired']);
    expect(world.ticks.running('often')).toHaveLength(3);
  });
});

describe('missed windows', () => {
  const downForNineHours = async (policy: Parameters<typeof schedule>[2]): Promise<void> => {
    world = new World('2026-01-01T08:30:00Z');
    const loops = [loopOf('hourly', schedule('0 * * * *', 'UTC', policy))];
    await world.start(loops);
    await world.passTo('2026-01-01T09:10:00Z');
    world.die();
    await world.passTo('2026-01-01T18:20:00Z');
    await world.start(loops);
    await world.passTo('2026-01-01T19:10:00Z');
  };

  test('SCH-05 nine hours off: exactly one catch-up, the number of missed windows, the next one on the hour', async () => {
    await downForNineHours({});
    expect(world.fired()).toEqual(['2026-01-01T09:00Z', '2026-01-01T18:00Z', '2026-01-01T19:00Z']);
    expect(world.ends()).toEqual([
      'fired 2026-01-01T09:00Z',
      'missed 2026-01-01T10:00Z to 2026-01-01T17:00Z (8)',
      'fired 2026-01-01T18:00Z',
      'fired 2026-01-01T19:00Z',
    ]);
  });

  test('SCH-05 none when so configured, and the silence is an alarm until the next tick', async () => {
    await downForNineHours({ catchUp: { run: 'none' } });
    expect(world.ends()).toEqual([
      'fired 2026-01-01T09:00Z',
      'missed 2026-01-01T10:00Z to 2026-01-01T18:00Z (9)',
      'fired 2026-01-01T19:00Z',
    ]);
    expect(world.reports.filter(({ kind }) => kind === 'loop-silent')).toMatchObject([{ notice: { windows: 9, loop: 'hourly' } }]);
    expect(world.registers.list('notices', {})).toEqual([]);
  });

  test('SCH-05 all up to n run one after another, oldest first', async () => {
    world = new World('2026-01-01T08:30:00Z');
    const loops = [loopOf('hourly', schedule('0 * * * *', 'UTC', { catchUp: { run: 'all', max: 3 } }))];
    await world.start(loops);
    world.die();
    await world.passTo('2026-01-01T18:20:00Z');
    world.tickMs = minuteMs;
    await world.start(loops);
    expect(world.fired()).toEqual(['2026-01-01T16:00Z']);
    await world.pass(10 * minuteMs);
    expect(world.fired()).toEqual(['2026-01-01T16:00Z', '2026-01-01T17:00Z', '2026-01-01T18:00Z']);
    for (const [index, tick] of world.started.entries())
      expect(tick.startedAt).toBeGreaterThanOrEqual(world.started[index - 1]?.endsAt ?? 0);
    expect(world.ends()[0]).toBe('missed 2026-01-01T09:00Z to 2026-01-01T15:00Z (7)');
  });

  test('L11 months of downtime of a five-second interval are one record', async () => {
    world = new World('2026-01-01T00:00:01Z');
    const loops = [loopOf('often', every(5000))];
    await world.start(loops);
    world.die();
    await world.passTo('2026-07-01T00:00:01Z');
    await world.start(loops);
    expect(world.records()).toHaveLength(2);
    expect(world.records().reduce((sum, { count }) => sum + count, 0)).toBe((181 * 86_400) / 5);
  });

  test('SCD-05 a suspended machine is noticed within half a minute of waking', async () => {
    world = new World('2026-01-01T08:30:00Z');
    await world.start([loopOf('hourly', schedule('0 * * * *', 'UTC'))]);
    // Timers stand still while the clock goes on.
    world.jump(3 * hourMs);
    await world.pass(30_000);
    expect(world.ends()).toEqual(['missed 2026-01-01T09:00Z to 2026-01-01T10:00Z (2)', 'fired 2026-01-01T11:00Z']);
  });
});

describe('clocks', () => {
  test('P5 a clock set back fires nothing twice', async () => {
    world = new World('2026-01-01T08:30:00Z');
    await world.start([loopOf('hourly', schedule('0 * * * *', 'UTC'))]);
    await world.passTo('2026-01-01T11:10:00Z');
    world.jump(-2 * hourMs);
    await world.passTo('2026-01-01T12:10:00Z');
    expect(world.fired()).toEqual(['2026-01-01T09:00Z', '2026-01-01T10:00Z', '2026-01-01T11:00Z', '2026-01-01T12:00Z']);
    expect(world.reports.filter(({ kind }) => kind === 'clock-set-back')).toMatchObject([{ reopened: 0 }]);
  });

  test('P5 windows missed while the clock stood ahead come back, the one that fired does not', async () => {
    world = new World('2026-01-01T08:30:00Z');
    await world.start([loopOf('hourly', schedule('0 * * * *', 'UTC'))]);
    world.jump(4 * hourMs);
    await world.pass(30_000);
    expect(world.ends()).toEqual(['missed 2026-01-01T09:00Z to 2026-01-01T11:00Z (3)', 'fired 2026-01-01T12:00Z']);
    world.jump(-4 * hourMs);
    await world.passTo('2026-01-01T13:10:00Z');
    expect(world.fired()).toEqual([
      '2026-01-01T12:00Z',
      '2026-01-01T09:00Z',
      '2026-01-01T10:00Z',
      '2026-01-01T11:00Z',
      '2026-01-01T13:00Z',
    ]);
    expect(world.ends().every((end) => end.startsWith('fired'))).toBe(true);
    expect(world.reports.filter(({ kind }) => kind === 'clock-set-back')).toMatchObject([{ reopened: 3 }]);
  });

  test('SCD-06 jitter delays each window by its own share, the same at every look', async () => {
    world = new World('2026-01-01T00:30:00Z');
    await world.start([loopOf('hourly', schedule('0 * * * *', 'UTC', { jitterMs: 20 * minuteMs }))]);
    await world.passTo('2026-01-01T12:30:00Z');
    const delays = world.started.map(({ window, startedAt }) => startedAt - window.at);
    expect(delays).toHaveLength(12);
    expect(new Set(delays).size).toBeGreaterThan(8);
    expect(Math.max(...delays)).toBeLessThan(20 * minuteMs);
    const again = new World('2026-01-01T00:30:00Z');
    await again.start([loopOf('hourly', schedule('0 * * * *', 'UTC', { jitterMs: 20 * minuteMs }))]);
    await again.passTo('2026-01-01T12:30:00Z');
    expect(again.started.map(({ window, startedAt }) => startedAt - window.at)).toEqual(delays);
    await again.scheduler?.stop();
  });
});

describe('interruptions', () => {
  test.each(['before', 'after'] as const)('P2 a crash %s the tick is on disk leaves one tick and one end', async (when) => {
    world = new World('2026-01-01T08:59:50Z');
    const loops = [loopOf('hourly', schedule('0 * * * *', 'UTC'))];
    await world.start(loops);
    let hasDied = false;
    world.onStart = (point) => {
      if (point !== when || hasDied) return;
      hasDied = true;
      world.isDead = true;
      throw new Error('The process died.');
    };
    await world.pass(11_000);
    expect(world.isDead).toBe(true);
    world.die();
    await world.start(loops);
    await world.pass(1000);
    expect(world.fired()).toEqual(['2026-01-01T09:00Z']);
    expect(world.ends()).toEqual(['fired 2026-01-01T09:00Z']);
  });

  test('SCD-07 an edited schedule ends what waited and begins anew', async () => {
    world = new World('2026-01-01T08:59:50Z');
    world.tickMs = hourMs;
    await world.start([loopOf('hourly', every(5000, { overlap: 'queue' }))]);
    await world.pass(11_000);
    await world.scheduler?.reload([loopOf('hourly', every(hourMs))]);
    expect(world.records().map(({ end, reason }) => `${end} ${reason}`)).toContain(
      'superseded Its trigger was removed or changed while it waited.',
    );
    expect(world.registers.list('triggers', {}).map(({ key }) => key)).toEqual([`hourly/${every(hourMs).id}`]);
    expect(world.scheduler?.next()).toBe(at('2026-01-01T10:00:00Z'));
  });
});
