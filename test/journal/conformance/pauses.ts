import { expect, test } from 'vitest';
import { endOf, gate, type MakeLab, loop, restart, runToEnd, start, until } from './lab.ts';

export const pausesConformance = (makeLab: MakeLab): void => {
  test('RULE-9 a paused run begins no new effect, lets a running one come to its end, and goes on when resumed', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const trail: string[] = [];
    const { opened, open } = gate();
    const handler = loop(async (ctx) => {
      await ctx.step('one', {}, async () => {
        trail.push('one begins');
        await opened;
        trail.push('one ends');
      });
      await ctx.step('two', {}, async () => void trail.push('two'));
    });
    const handle = await engine.start(handler, null, start);
    await until(lab, 'one runs', () => trail.length === 1);
    await engine.pause('r1', 'a meeting');
    open();
    await until(lab, 'one is recorded', () => engine.reader.facts().some(({ kind }) => kind === 'step.completed'));
    await lab.time.pass(100);
    expect(engine.reader.run('r1')).toMatchObject({ state: 'paused' });
    expect(trail).toEqual(['one begins', 'one ends']);
    await engine.resume('r1');
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done' });
    expect(trail).toEqual(['one begins', 'one ends', 'two']);
  });

  test('RULE-9 a paused run stays paused over a kill', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    let performed = 0;
    const handler = loop(async (ctx) => {
      await ctx.waitFor('go', { signal: 'go' });
      await ctx.step('work', {}, async () => void (performed += 1));
    });
    await first.start(handler, null, start);
    await until(lab, 'it waits', () => first.reader.run('r1')?.waits.length === 1);
    await first.pause('r1', 'a meeting');
    await first.signal('r1', 'go', null);
    const { engine } = await restart(lab, first, [handler]);
    await lab.time.pass(300);
    expect(engine.reader.run('r1')).toMatchObject({ state: 'paused' });
    expect(performed).toBe(0);
    await engine.resume('r1');
    await until(lab, 'it ends', () => engine.reader.run('r1')?.state === 'done');
    expect(performed).toBe(1);
  });

  test('RULE-9 a paused run stays paused when all that is at work is cancelled, as by a daemon that ends', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const { opened, open } = gate();
    let performed = 0;
    const handler = loop(async (ctx) => {
      await ctx.step('one', {}, () => opened);
      await ctx.step('two', {}, async () => void (performed += 1));
    });
    const handle = await engine.start(handler, null, start);
    await until(lab, 'one is begun', () => engine.reader.facts().some(({ kind }) => kind === 'step.intended'));
    await engine.pause('r1', 'a meeting');
    await engine.cancelAll('shutdown');
    expect(engine.reader.run('r1')).toMatchObject({ state: 'paused' });
    open();
    await engine.resume('r1');
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done' });
    expect(performed).toBe(1);
  });

  test('RULE-8 a paused run can be cancelled, and its cleanups run', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const trail: string[] = [];
    const handler = loop(async (ctx) => {
      ctx.cleanup('tidy', async () => void trail.push('tidy'));
      await ctx.waitFor('go', { signal: 'go' });
    });
    const handle = await engine.start(handler, null, start);
    await until(lab, 'it waits', () => engine.reader.run('r1')?.waits.length === 1);
    await engine.pause('r1', 'a meeting');
    await engine.cancel('r1', { reason: 'enough' });
    expect(await endOf(lab, handle)).toMatchObject({ state: 'cancelled', error: { message: 'enough' } });
    expect(trail).toEqual(['tidy']);
  });

  test('RULE-9 resuming a run that has ended, or is not there, says so', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    await runToEnd(lab, engine, { handler: loop(async () => 'done') });
    await engine.pause('r1', 'too late');
    expect(engine.reader.run('r1')).toMatchObject({ state: 'done' });
    await expect(engine.resume('r1')).rejects.toMatchObject({ code: 'RUN_ENDED' });
    await expect(engine.resume('nobody')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
  });
};
