import { expect, test } from 'vitest';
import { endOf, type MakeLab, loop, restart, start, until } from './lab.ts';

export const versionsConformance = (makeLab: MakeLab): void => {
  test('RULE-10 the version of a change is recorded: a run that began before keeps the old one, a new run gets the newest', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    let newest = 1;
    const handler = loop(async (ctx) => {
      const version = await ctx.version('ask-twice', 1, newest);
      await ctx.waitFor('go', { signal: 'go' });
      return version;
    });
    await first.start(handler, null, start);
    await until(lab, 'it waits', () => first.reader.run('r1')?.waits.length === 1);
    newest = 2;
    const { engine, handle } = await restart(lab, first, [handler]);
    const other = await engine.start(handler, null, { ...start, id: 'r2' as typeof start.id, dedupeKey: 'other' });
    for (const run of ['r1', 'r2']) await engine.signal(run, 'go', null);
    expect([await endOf(lab, handle), await endOf(lab, other)]).toMatchObject([{ output: 1 }, { output: 2 }]);
  });

  test('RULE-10 a recorded version outside the range that the code knows parks the run', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    let range: [number, number] = [1, 1];
    const handler = loop(async (ctx) => {
      const version = await ctx.version('ask-twice', ...range);
      await ctx.waitFor('go', { signal: 'go' });
      return version;
    });
    await first.start(handler, null, start);
    await until(lab, 'it waits', () => first.reader.run('r1')?.waits.length === 1);
    range = [2, 3];
    const { engine, handle } = await restart(lab, first, [handler]);
    await until(lab, 'it is parked', () => engine.reader.run('r1')?.state === 'needs-attention');
    expect(engine.reader.run('r1')?.attention?.code).toBe('VERSION_UNSUPPORTED');
    await engine.cancel('r1', { reason: 'too old' });
    expect(await endOf(lab, handle)).toMatchObject({ state: 'cancelled' });
  });

  test('RULE-10 a run of another version of its loop is parked by `serve`, and taken up by an engine that knows the version', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const handler = loop((ctx) => ctx.waitFor('go', { signal: 'go' }));
    await first.start(handler, null, start);
    await until(lab, 'it waits', () => first.reader.run('r1')?.waits.length === 1);
    await lab.crash(first);
    const second = await lab.open();
    expect(await second.serve([{ ...handler, version: 2 }])).toEqual([]);
    await until(lab, 'it is parked', () => second.reader.run('r1')?.state === 'needs-attention');
    expect(second.reader.run('r1')?.attention?.code).toBe('VERSION_UNKNOWN');
    await lab.crash(second);
    const third = await lab.open();
    await third.serve([handler]);
    await third.resume('r1');
    await third.signal('r1', 'go', null);
    await until(lab, 'it ends', () => third.reader.run('r1')?.state === 'done');
  });

  test('RULE-10 a step put in before recorded ones changes none of them; a key that vanished is no error', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const performed: string[] = [];
    let keys = ['one', 'two'];
    const handler = loop(async (ctx) => {
      const outcomes: string[] = [];
      for (const key of keys) outcomes.push(await ctx.step(key, {}, async () => (performed.push(key), `${key} done`)));
      await ctx.waitFor('go', { signal: 'go' });
      return outcomes;
    });
    await first.start(handler, null, start);
    await until(lab, 'it waits', () => first.reader.run('r1')?.waits.length === 1);
    keys = ['zero', 'two'];
    const { engine, handle } = await restart(lab, first, [handler]);
    await engine.signal('r1', 'go', null);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: ['zero done', 'two done'] });
    expect(performed).toEqual(['one', 'two', 'zero']);
  });
};
