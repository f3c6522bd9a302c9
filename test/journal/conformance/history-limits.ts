import { expect, test } from 'vitest';
import { endOf, factsOf, type MakeLab, loop, restart, runToEnd, start, until } from './lab.ts';

export const historyLimitsConformance = (makeLab: MakeLab): void => {
  test('RULE-6 `continueAs` opens the next generation with new keys and the new input', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const performed: unknown[] = [];
    const handler = loop(async (ctx, input) => {
      const round = Number(input);
      performed.push(await ctx.step('work', {}, async () => round));
      if (round < 3) await ctx.continueAs(round + 1);
      return [ctx.run.generation, round];
    });
    expect(await runToEnd(lab, engine, { handler, input: 1 })).toMatchObject({ state: 'done', generation: 3, output: [3, 3], input: 3 });
    expect(performed).toEqual([1, 2, 3]);
    expect(factsOf(engine.reader, 'run.started')).toHaveLength(1);
    expect(factsOf(engine.reader, 'run.ended')).toHaveLength(1);
  });

  test('RULE-6 P2 a kill after `continueAs` goes on in the new generation', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const performed: unknown[] = [];
    const handler = loop(async (ctx, input) => {
      await ctx.step('work', {}, async () => void performed.push(input));
      if (input === 'one') await ctx.continueAs('two');
      await ctx.waitFor('go', { signal: 'go' });
      return input;
    });
    await first.start(handler, 'one', start);
    await until(lab, 'it waits', () => first.reader.run('r1')?.waits.length === 1);
    const { engine, handle } = await restart(lab, first, [handler]);
    await engine.signal('r1', 'go', null);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', generation: 2, output: 'two' });
    expect(performed).toEqual(['one', 'two']);
  });

  test('RULE-6 L9 a run says once that its history is long, and parks when it is full', { timeout: 60_000 }, async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop(async (ctx) => {
      const keys = Array.from({ length: 10_001 }, (_, index) => `k${index}`);
      for (let at = 0; at < keys.length; at += 500) await Promise.all(keys.slice(at, at + 500).map((key) => ctx.now(key)));
    });
    const handle = await engine.start(handler, null, start);
    await until(lab, 'it is parked', () => engine.reader.run('r1')?.state === 'needs-attention');
    expect(engine.reader.run('r1')?.attention?.code).toBe('HISTORY_FULL');
    const isLong = ({ kind }: { readonly kind: string }): boolean => kind === 'run.history-long';
    expect(engine.reader.facts({ run: 'r1' }).filter((fact) => isLong(fact))).toHaveLength(1);
    await engine.cancel('r1', { reason: 'too long' });
    expect(await endOf(lab, handle)).toMatchObject({ state: 'cancelled' });
  });

  test('RULE-2 `retryFrom` keeps what came before a step and performs the rest again', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const performed: string[] = [];
    const handler = loop(async (ctx) => {
      for (const key of ['plan', 'code', 'check']) await ctx.step(key, {}, async () => void performed.push(key));
      return ctx.run.generation;
    });
    await runToEnd(lab, engine, { handler });
    await expect(engine.retryFrom('r1', 'nothing')).rejects.toMatchObject({ code: 'STEP_UNKNOWN' });
    await expect(engine.retryFrom('nobody', 'code')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
    const again = await endOf(lab, await engine.retryFrom('r1', 'code'));
    expect(again).toMatchObject({ state: 'done', generation: 2, output: 2 });
    expect(performed).toEqual(['plan', 'code', 'check', 'code', 'check']);
  });
};
