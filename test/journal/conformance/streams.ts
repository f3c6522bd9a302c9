import { expect, test } from 'vitest';
import { epochMs } from '../../../src/core/ids.ts';
import { endOf, type MakeLab, loop, restart, runToEnd, start, until } from './lab.ts';

export const streamsConformance = (makeLab: MakeLab): void => {
  test('RULE-2 events of a stream are kept in order and read from any place, outside the chain', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop(async (ctx) => {
      for (const line of ['a', 'b', 'c']) ctx.emit('log', { line });
      ctx.emit('other', 1);
      await ctx.step('work', {}, async () => {});
    });
    await runToEnd(lab, engine, { handler });
    const events = engine.reader.stream('r1', 'log');
    expect(events.map(({ event }) => event)).toEqual([{ line: 'a' }, { line: 'b' }, { line: 'c' }]);
    expect(engine.reader.stream('r1', 'log', events[0]?.seq).map(({ event }) => event)).toEqual([{ line: 'b' }, { line: 'c' }]);
    expect(engine.reader.stream('r1', 'none')).toEqual([]);
    const { newest } = engine.reader.streamNews();
    expect(newest).toBeGreaterThanOrEqual(events[2]?.seq ?? Infinity);
    expect(engine.reader.streamNews(0)).toEqual({ newest, runs: ['r1'] });
    expect(engine.reader.streamNews(newest)).toEqual({ newest, runs: [] });
    expect(JSON.stringify(engine.reader.facts())).not.toContain('"line"');
  });

  test('RULE-2 P1 an event is kept at least once over a kill', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const handler = loop(async (ctx) => {
      ctx.emit('log', 'begun');
      await ctx.waitFor('go', { signal: 'go' });
      ctx.emit('log', 'over');
    });
    await first.start(handler, null, start);
    await until(lab, 'it waits', () => first.reader.run('r1')?.waits.length === 1);
    const { engine, handle } = await restart(lab, first, [handler]);
    await engine.signal('r1', 'go', null);
    await endOf(lab, handle);
    const events = engine.reader.stream('r1', 'log').map(({ event }) => event);
    expect(new Set(events)).toEqual(new Set(['begun', 'over']));
    expect(events.at(-1)).toBe('over');
  });

  test('RULE-6 purging removes what ended runs kept beside the chain; facts and run rows stay', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop(async (ctx, input) => {
      ctx.emit('log', 'x');
      await ctx.step('work', {}, async () => 'y'.repeat(300_000));
      if (input === 'fail') throw new Error('no');
    });
    await runToEnd(lab, engine, { handler });
    await runToEnd(lab, engine, { handler, input: 'fail', start: { ...start, id: 'r2' as typeof start.id } });
    const before = epochMs(lab.time.now() + 1_000);
    const facts = engine.reader.facts().length;
    expect(await engine.purge({ before, keep: ['failed'] })).toMatchObject({ runs: 1 });
    expect(engine.reader.run('r1')?.purgedAt).toBeGreaterThan(0);
    expect(engine.reader.run('r2')?.purgedAt).toBeUndefined();
    expect([engine.reader.stream('r1', 'log').length, engine.reader.stream('r2', 'log').length]).toEqual([0, 1]);
    expect(engine.reader.facts().length).toBeGreaterThanOrEqual(facts);
    expect(engine.reader.verify()).toMatchObject({ ok: true });
    expect(await engine.purge({ before, keep: ['failed'] })).toMatchObject({ runs: 0 });
  });
};
