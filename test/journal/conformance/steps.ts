import { expect, test } from 'vitest';
import { Defect, Fault } from '../../../src/core/fault.ts';
import { runId } from '../../../src/core/ids.ts';
import { type MakeLab, aborted, endOf, kindsOf, loop, start, until } from './lab.ts';

export const stepsConformance = (makeLab: MakeLab): void => {
  test('L5 a recorded effect is not performed again, and its outcome comes back as plain JSON', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    let performed = 0;
    let isBlocked = true;
    const seen: unknown[] = [];
    const handler = loop(async (ctx) => {
      const outcome = await ctx.step('build', {}, async () => {
        performed += 1;
        return { at: new Date(0), list: [1, undefined], gone: undefined };
      });
      seen.push(outcome);
      await ctx.step('nothing', {}, async () => {});
      if (isBlocked) await aborted(ctx.signal);
      ctx.signal.throwIfAborted();
      return { performed };
    });
    const handle = await first.start(handler, null, start);
    await until(lab, 'the step is recorded', () => seen.length === 1);
    await first[Symbol.asyncDispose]();
    await expect(handle.ended).rejects.toMatchObject({ code: 'ENGINE_DISPOSED' });
    isBlocked = false;
    const second = await lab.open();
    const [resumed] = await second.recover([handler]);
    const run = await endOf(lab, resumed);
    expect(run).toMatchObject({ state: 'done', output: { performed: 1 } });
    expect(seen).toEqual([
      { at: '1970-01-01T00:00:00.000Z', list: [1, null] },
      { at: '1970-01-01T00:00:00.000Z', list: [1, null] },
    ]);
  });

  test('L5 the intent is on disk before the effect starts', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    let before: readonly string[] = [];
    const handler = loop(async (ctx) => {
      await ctx.step('push', {}, async ({ idempotencyKey }) => {
        before = kindsOf(engine.reader.facts({ run: 'r1' }));
        return idempotencyKey;
      });
    });
    await endOf(lab, await engine.start(handler, {}, start));
    expect(before).toEqual(['run.started', 'step.intended']);
    expect(kindsOf(engine.reader.facts({ run: 'r1' }))).toEqual(['run.started', 'step.intended', 'step.completed', 'run.ended']);
    expect(engine.reader.facts({ run: 'r1' })[2]?.data).toMatchObject({ key: 'push', outcome: 'r1/push' });
  });

  test('JNL-01 the same key twice in one execution is a defect and fails the run, even when caught', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop(async (ctx) => {
      await ctx.step('a', {}, async () => 1);
      await expect(ctx.now('a')).rejects.toThrow(Defect);
      return 'went on';
    });
    const run = await endOf(lab, await engine.start(handler, null, start));
    expect(run).toMatchObject({ state: 'failed', error: { code: 'DEFECT' }, output: undefined });
    expect(run.error?.message).toContain('"a" is used twice');
  });

  test('JNL-02 a failed step is recorded and rethrown on replay; a reopened run performs it again', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    let calls = 0;
    let doneCalls = 0;
    const handler = loop(async (ctx, input) => {
      await ctx.step('before', {}, async () => void (doneCalls += 1));
      return ctx.step('fetch', {}, async () => {
        calls += 1;
        if (input === 'bad') throw new Fault('NO_ROUTE', 'No route to host.', { hint: 'Plug it in.' });
        return 'fetched';
      });
    });
    const failed = await endOf(lab, await engine.start(handler, 'bad', start));
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'NO_ROUTE', message: 'No route to host.', hint: 'Plug it in.' } });
    const again = await endOf(lab, await engine.reopen(handler, start.id, 'good'));
    expect(again).toMatchObject({ state: 'done', generation: 2, output: 'fetched', error: undefined, input: 'good' });
    expect([calls, doneCalls]).toEqual([2, 1]);
    await expect(engine.reopen(handler, runId('nobody'), 1)).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
  });

  test('JNL-03 the failure of a step reaches the handler the same way on the first execution and on a replay', async () => {
    await using lab = makeLab();
    const seen: unknown[] = [];
    let calls = 0;
    let isBlocked = true;
    const handler = loop(async (ctx) => {
      await ctx
        .step('fetch', {}, async () => {
          calls += 1;
          throw Object.assign(new Error('gone'), { code: 'ENOENT' });
        })
        .catch((error: unknown) => seen.push(error));
      if (isBlocked) await aborted(ctx.signal);
      ctx.signal.throwIfAborted();
    });
    const first = await lab.open();
    await first.start(handler, null, start);
    await until(lab, 'the failure is seen', () => seen.length === 1);
    await first[Symbol.asyncDispose]();
    isBlocked = false;
    const second = await lab.open();
    const [handle] = await second.recover([handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done' });
    expect(calls).toBe(1);
    for (const error of seen) expect(error).toMatchObject({ name: 'Fault', code: 'ENOENT', message: 'gone' });
    expect(seen).toHaveLength(2);
  });

  test('JNL-05 clock, chance, facts and sleeps are recorded once', async () => {
    await using lab = makeLab();
    const values: unknown[] = [];
    let isBlocked = true;
    const handler = loop(async (ctx) => {
      const value = { now: await ctx.now('t'), random: await ctx.random('d') };
      await ctx.record('verdict', 'verdict.given', { pass: true });
      await ctx.sleep('nap', 30);
      values.push(value);
      ctx.set('phase', 'resting');
      if (isBlocked) await aborted(ctx.signal);
      ctx.signal.throwIfAborted();
    });
    const first = await lab.open();
    await first.start(handler, null, start);
    await until(lab, 'the first pass', () => values.length === 1);
    await first[Symbol.asyncDispose]();
    isBlocked = false;
    const second = await lab.open();
    const [handle] = await second.recover([handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', view: { phase: 'resting' } });
    expect(values[1]).toEqual(values[0]);
    expect(second.reader.facts({ run: 'r1' }).filter((fact) => fact.kind === 'verdict.given')).toHaveLength(1);
  });
};
