import { expect, test } from 'vitest';
import { Fault } from '../../../src/core/fault.ts';
import { aborted, endOf, type MakeLab, loop, restart, runToEnd, start, until } from './lab.ts';

const itemKey = (item: string): string => item;

export const mapRaceConformance = (makeLab: MakeLab): void => {
  test('RULE-1 map gives each item keys of its own, at most as many at once as asked, results in the order of the items', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    let now = 0;
    let most = 0;
    const handler = loop((ctx) =>
      ctx.map('files', ['c', 'a', 'b', 'd'], { concurrency: 2, onError: 'stop', itemKey }, (scoped, item) =>
        scoped.step('size', {}, async ({ idempotencyKey }) => {
          now += 1;
          most = Math.max(most, now);
          await new Promise((resolve) => setTimeout(resolve, item === 'c' ? 20 : 5));
          now -= 1;
          return idempotencyKey;
        }),
      ),
    );
    const results = ['c', 'a', 'b', 'd'].map((key) => ({ key, ok: true, value: `r1/files/${key}/size` }));
    expect(await runToEnd(lab, engine, { handler })).toMatchObject({ state: 'done', output: results });
    expect(most).toBe(2);
  });

  test('RULE-2 P2 after a kill a map performs only what was not recorded, also when the order of the items has changed', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const performed: string[] = [];
    let items = ['a', 'b', 'c'];
    let isBlocked = true;
    const handler = loop((ctx) =>
      ctx.map('files', items, { concurrency: 3, onError: 'stop', itemKey }, (scoped, item) =>
        scoped.step('work', {}, async ({ signal }) => {
          if (isBlocked && item === 'b') await aborted(signal);
          signal.throwIfAborted();
          performed.push(item);
          return item;
        }),
      ),
    );
    await first.start(handler, null, start);
    await until(lab, 'two are recorded', () => first.reader.facts().filter(({ kind }) => kind === 'step.completed').length === 2);
    items = ['c', 'b', 'a'];
    isBlocked = false;
    const { handle } = await restart(lab, first, [handler]);
    const run = await endOf(lab, handle);
    expect((run.output as { value: string }[]).map(({ value }) => value)).toEqual(['c', 'b', 'a']);
    expect(performed).toEqual(['a', 'c', 'b']);
  });

  test('RULE-1 map with `collect` brings every item to its end; with `stop` the first failure aborts the others and is thrown', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const trail: string[] = [];
    const handler = loop((ctx, onError) =>
      ctx.map('m', ['bad', 'slow'], { concurrency: 2, onError: onError as 'stop' | 'collect', itemKey }, async (scoped, item) => {
        if (item === 'bad') return scoped.step('x', {}, () => Promise.reject(new Fault('BAD', 'It is bad.')));
        await scoped.sleep('nap', 150);
        trail.push(`${String(onError)} slept`);
        return 'slept';
      }),
    );
    const collected = await runToEnd(lab, engine, { handler, input: 'collect' });
    expect(collected).toMatchObject({
      state: 'done',
      output: [
        { key: 'bad', ok: false, error: { code: 'BAD', message: 'It is bad.' } },
        { key: 'slow', ok: true, value: 'slept' },
      ],
    });
    const stopped = await runToEnd(lab, engine, { handler, input: 'stop', start: { ...start, id: 'r2' as typeof start.id } });
    expect(stopped).toMatchObject({ state: 'failed', error: { code: 'BAD' } });
    expect(trail).toEqual(['collect slept']);
  });

  test('RULE-1 two items with the same key are a defect', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop((ctx) => ctx.map('m', ['a', 'a'], { concurrency: 1, onError: 'collect', itemKey }, async () => 1));
    expect(await runToEnd(lab, engine, { handler })).toMatchObject({ state: 'failed', error: { code: 'DEFECT' } });
  });

  test('RULE-2 the winner of a race is recorded, the losers are aborted, and a replay performs no branch', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const trail: string[] = [];
    const handler = loop(async (ctx) => {
      const { winner, value } = await ctx.race('first', {
        quick: async (scoped) => scoped.step('go', {}, async () => (trail.push('quick'), 'q')),
        slow: async (scoped) =>
          scoped.step('go', {}, async ({ signal }) => {
            await aborted(signal);
            trail.push('slow aborted');
            throw new Error('lost');
          }),
      });
      trail.push(`${winner} won`);
      await ctx.waitFor('go', { signal: 'go' });
      return [winner, value];
    });
    await first.start(handler, null, start);
    await until(lab, 'the race is over', () => first.reader.run('r1')?.waits.length === 1);
    const { engine, handle } = await restart(lab, first, [handler]);
    await engine.signal('r1', 'go', null);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: ['quick', 'q'] });
    expect(trail).toEqual(['quick', 'slow aborted', 'quick won', 'quick won']);
  });

  test('RULE-2 a race is over with the first branch to end, also when that one fails', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop((ctx) =>
      ctx.race('first', {
        bad: (scoped) => scoped.step('go', {}, () => Promise.reject(new Fault('BAD', 'It is bad.'))),
        slow: (scoped) => scoped.sleep('nap', 3_600_000),
      }),
    );
    expect(await runToEnd(lab, engine, { handler })).toMatchObject({ state: 'failed', error: { code: 'BAD' } });
  });
};
