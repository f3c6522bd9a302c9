import { expect, test } from 'vitest';
import { epochMs } from '../../../src/core/ids.ts';
import { endOf, factsOf, type MakeLab, loop, restart, start, until } from './lab.ts';

export const timersConformance = (makeLab: MakeLab): void => {
  test('JNL-18 a sleep that a dead engine began waits for the rest only', async () => {
    await using lab = makeLab();
    const handler = loop(async (ctx) => {
      await ctx.sleep('until-morning', 3_600_000);
      return 'awake';
    });
    const first = await lab.open();
    await first.start(handler, null, start);
    await until(lab, 'the sleep is recorded', () => factsOf(first.reader, 'step.intended').length === 1);
    lab.time.jump(3_599_990);
    const { handle } = await restart(lab, first, [handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: 'awake' });
  });

  test('P5 JNL-28 a sleep is not prolonged by a clock that was set back', async () => {
    await using lab = makeLab();
    const handler = loop((ctx) => ctx.sleep('nap', 200));
    const first = await lab.open();
    await first.start(handler, null, start);
    await until(lab, 'the sleep is recorded', () => factsOf(first.reader, 'step.intended').length === 1);
    lab.time.jump(-3_600_000);
    const { handle } = await restart(lab, first, [handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done' });
  });

  test('RULE-9 a sleeping run shows what it waits for, and an instant in the past is no wait', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop(async (ctx) => {
      await ctx.sleepUntil('past', epochMs(1));
      await ctx.sleepUntil('soon', epochMs(lab.time.now() + 150));
      return 'awake';
    });
    const handle = await engine.start(handler, null, start);
    await until(lab, 'it sleeps', () => engine.reader.run('r1')?.waits[0]?.key === 'soon');
    expect(engine.reader.run('r1')).toMatchObject({ state: 'running', waits: [{ key: 'soon', on: 'timer' }] });
    expect(await endOf(lab, handle)).toMatchObject({ output: 'awake', waits: [] });
  });

  test('RULE-2 a UUID is recorded: a replay sees the same one', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const seen: string[] = [];
    const handler = loop(async (ctx) => {
      seen.push(await ctx.uuid('id'));
      await ctx.waitFor('go', { signal: 'go' });
    });
    await first.start(handler, null, start);
    await until(lab, 'it is taken', () => seen.length === 1);
    const { engine, handle } = await restart(lab, first, [handler]);
    await engine.signal('r1', 'go', null);
    await endOf(lab, handle);
    expect(seen[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(seen[1]).toBe(seen[0]);
  });

  test('P5 a run that has passed its deadline is cancelled', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop((ctx) => ctx.waitFor('never', { signal: 'never' }));
    const handle = await engine.start(handler, null, { ...start, deadlineAt: epochMs(lab.time.now() + 150) });
    expect(await endOf(lab, handle)).toMatchObject({ state: 'cancelled' });
  });
};
