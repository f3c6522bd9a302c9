import { expect, test } from 'vitest';
import { aborted, endOf, type MakeLab, loop, restart, runToEnd, start, until } from './lab.ts';

const spend = (amount: number) =>
  loop(
    (ctx) =>
      ctx.step('spend', {}, async (step) => {
        step.charge({ usd: amount });
        step.charge({ usd: amount, calls: 1 });
      }),
    'spender',
  );

export const budgetsConformance = (makeLab: MakeLab): void => {
  test('L8 P3 charges of a step are written with its outcome: a kill in between counts neither or both', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    let isBlocked = true;
    const handler = loop(async (ctx) => {
      await ctx.step('one', {}, async (step) => step.charge({ usd: 1 }));
      await ctx.step('two', {}, async (step) => {
        step.charge({ usd: 2 });
        if (isBlocked) await aborted(step.signal);
        step.signal.throwIfAborted();
      });
    });
    await first.start(handler, null, { ...start, budget: { usd: 10 } });
    await until(lab, 'one is charged', () => first.reader.run('r1')?.spent['usd'] === 1);
    isBlocked = false;
    const { handle } = await restart(lab, first, [handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', budget: { usd: 10 }, spent: { usd: 3 } });
  });

  test('L8 a failed performance is charged too', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop((ctx) =>
      ctx.step('call', { retry: { max: 1, baseMs: 1 } }, async (step) => {
        step.charge({ usd: 1 });
        throw new Error('no');
      }),
    );
    expect(await runToEnd(lab, engine, { handler })).toMatchObject({ state: 'failed', spent: { usd: 2 } });
  });

  test('L8 what a child spends counts for its parents, whose limits bound it', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop(async (ctx) => {
      await (await ctx.child('part', spend(2), null, { budget: { calls: 3 } })).result();
      return ctx.budget.remaining();
    });
    const run = await runToEnd(lab, engine, { handler, start: { ...start, budget: { usd: 10 } } });
    expect(run).toMatchObject({ state: 'done', output: { usd: 6 }, spent: { usd: 4, calls: 1 } });
    expect(engine.reader.run('r1/part')).toMatchObject({ budget: { calls: 3 }, spent: { usd: 4, calls: 1 } });
  });

  test('L8 a reservation holds what it asks for, over a kill, and is refused when that is not there', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const handler = loop(async (ctx) => {
      const granted = [await ctx.budget.reserve('a', { usd: 6 }), await ctx.budget.reserve('b', { usd: 5 })];
      await ctx.waitFor('go', { signal: 'go' });
      const held = ctx.budget.remaining();
      await ctx.budget.charge('paid', { usd: 4 });
      return [granted, held, ctx.budget.remaining()];
    });
    await first.start(handler, null, { ...start, budget: { usd: 10 } });
    await until(lab, 'it waits', () => first.reader.run('r1')?.waits.length === 1);
    const { engine, handle } = await restart(lab, first, [handler]);
    await engine.signal('r1', 'go', null);
    expect(await endOf(lab, handle)).toMatchObject({ output: [[true, false], { usd: 4 }, { usd: 4 }], spent: { usd: 4 } });
  });

  test('L8 L9 an overdrawn run is parked until it is given new limits', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    let next = 0;
    const handler = loop(async (ctx) => {
      await ctx.step('much', {}, async (step) => step.charge({ usd: 5 }));
      await ctx.step('next', {}, async () => void (next += 1));
    });
    const handle = await engine.start(handler, null, { ...start, budget: { usd: 3 } });
    await until(lab, 'it is parked', () => engine.reader.run('r1')?.state === 'needs-attention');
    expect(engine.reader.run('r1')).toMatchObject({ attention: { code: 'BUDGET_EXHAUSTED' }, spent: { usd: 5 } });
    expect(next).toBe(0);
    await engine.resume('r1', { budget: { usd: 20 } });
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', budget: { usd: 20 }, attention: undefined });
  });

  test('L8 L9 a run that is to fail at its limit fails', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop((ctx) => ctx.budget.charge('much', { usd: 5 }));
    const run = await runToEnd(lab, engine, { handler, start: { ...start, budget: { usd: 3 }, onLimit: 'fail' } });
    expect(run).toMatchObject({ state: 'failed', error: { code: 'BUDGET_EXHAUSTED' }, spent: { usd: 5 } });
  });
};
