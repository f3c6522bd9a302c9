import { expect, test } from 'vitest';
import { aborted, endOf, factsOf, type MakeLab, loop, restart, start, until } from './lab.ts';

export const crashPoliciesConformance = (makeLab: MakeLab): void => {
  test('RULE-3 JNL-11 reconcile is asked before an effect of unknown outcome is performed again', async () => {
    await using lab = makeLab();
    const trail: string[] = [];
    let world: string | undefined;
    const handler = loop((ctx) =>
      ctx.step('pull-request', { onCrash: { reconcile: async () => (trail.push('look'), world) } }, async ({ signal }) => {
        trail.push('create');
        world = '#7';
        await aborted(signal);
        throw new Error('the answer never came');
      }),
    );
    const first = await lab.open();
    await first.start(handler, null, start);
    await until(lab, 'the effect has happened', () => world !== undefined);
    const { handle } = await restart(lab, first, [handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: '#7' });
    expect(trail).toEqual(['create', 'look']);
  });

  test('RULE-3 P2 a step left in flight is performed again, and knows how often it was begun and by which engine', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const seen: unknown[] = [];
    let isBlocked = true;
    const handler = loop((ctx) =>
      ctx.step('build', {}, async ({ signal, performance, attempt, epoch, idempotencyKey }) => {
        seen.push([performance, attempt, epoch, idempotencyKey]);
        if (isBlocked) await aborted(signal);
        signal.throwIfAborted();
        return 'built';
      }),
    );
    await first.start(handler, null, start);
    await until(lab, 'it has begun', () => seen.length === 1);
    isBlocked = false;
    const { handle } = await restart(lab, first, [handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: 'built' });
    expect(seen).toEqual([
      [1, 1, 1, 'r1/build'],
      [2, 1, 2, 'r1/build'],
    ]);
  });

  /** A run whose step under `ask` was left in flight by a killed engine. */
  const leftInFlight = async (makeIt: MakeLab) => {
    const lab = makeIt();
    const performed: number[] = [];
    let isBlocked = true;
    const handler = loop(async (ctx) => {
      await ctx.step('before', {}, async () => {});
      return ctx.step('deploy', { onCrash: 'ask' }, async ({ signal, performance }) => {
        performed.push(performance);
        if (isBlocked) await aborted(signal);
        signal.throwIfAborted();
        return `deployed ${performance}`;
      });
    });
    const first = await lab.open();
    await first.start(handler, null, start);
    await until(lab, 'it has begun', () => performed.length === 1);
    isBlocked = false;
    const { engine, handle } = await restart(lab, first, [handler]);
    await until(lab, 'it is parked', () => engine.reader.run('r1')?.state === 'needs-attention');
    return { lab, engine, handle, performed, handler };
  };

  test('RULE-3 P2 `ask` parks the run instead of performing a step of unknown outcome; the outcome a person gives is recorded', async () => {
    const { lab: opened, engine, handle, performed } = await leftInFlight(makeLab);
    await using lab = opened;
    expect(engine.reader.run('r1')?.attention).toMatchObject({ code: 'STEP_UNKNOWN', step: 'deploy' });
    await expect(engine.decide('r1', 'before', 'perform-again')).rejects.toMatchObject({ code: 'STEP_NOT_ASKED' });
    await expect(engine.decide('nobody', 'deploy', 'perform-again')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
    await engine.decide('r1', 'deploy', { outcome: 'seen live' });
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: 'seen live', attention: undefined });
    expect(performed).toEqual([1]);
    expect(factsOf(engine.reader, 'step.completed', 'deploy')).toHaveLength(1);
  });

  test('RULE-3 a person may say that it is to be performed again', async () => {
    const { lab: opened, engine, handle, performed } = await leftInFlight(makeLab);
    await using lab = opened;
    await engine.decide('r1', 'deploy', 'perform-again');
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: 'deployed 2' });
    expect(performed).toEqual([1, 2]);
  });

  test('RULE-3 P12 a parked run stays parked over a kill, and is decided with the next engine', async () => {
    const { lab: opened, engine, performed, handler } = await leftInFlight(makeLab);
    await using lab = opened;
    const next = await restart(lab, engine, [handler]);
    await until(lab, 'it is parked still', () => next.engine.reader.run('r1')?.state === 'needs-attention');
    expect(performed).toEqual([1]);
    await next.engine.decide('r1', 'deploy', { outcome: 'seen live' });
    await until(lab, 'it ends', () => next.engine.reader.run('r1')?.state === 'done');
    expect(performed).toEqual([1]);
  });

  test('RULE-8 a parked run can be cancelled', async () => {
    const { lab: opened, engine, handle } = await leftInFlight(makeLab);
    await using lab = opened;
    await engine.cancel('r1', { reason: 'enough' });
    expect(await endOf(lab, handle)).toMatchObject({ state: 'cancelled', error: { message: 'enough' }, attention: undefined });
  });
};
