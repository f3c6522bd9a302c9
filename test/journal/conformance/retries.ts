import { expect, test } from 'vitest';
import { Fault } from '../../../src/core/fault.ts';
import { aborted, endOf, factsOf, type MakeLab, loop, restart, runToEnd, start, until } from './lab.ts';

export const retriesConformance = (makeLab: MakeLab): void => {
  test('RULE-2 a failed step is tried again as often as its policy says, and the last failure is thrown', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const attempts: number[] = [];
    const handler = loop((ctx) =>
      ctx.step('call', { retry: { max: 2, baseMs: 10 } }, async ({ attempt }) => {
        attempts.push(attempt);
        throw new Fault('BUSY', `Busy, ${attempt}.`);
      }),
    );
    expect(await runToEnd(lab, engine, { handler })).toMatchObject({ state: 'failed', error: { code: 'BUSY', message: 'Busy, 3.' } });
    expect(attempts).toEqual([1, 2, 3]);
    expect(factsOf(engine.reader, 'step.retried', 'call')).toHaveLength(2);
    expect(factsOf(engine.reader, 'step.failed', 'call')).toHaveLength(1);
  });

  test.each([
    ['nothing', { baseMs: 1_000_000 }, 0, 1_000_000],
    ['its share', { baseMs: 1_000_000 }, 0.8, 1_200_000],
    ['its share of the longest wait', { baseMs: 9_000_000, capMs: 1_000_000 }, 0.8, 1_200_000],
    ['at most a quarter', { baseMs: 1_000_000 }, 0.999_999, 1_249_999],
  ])('RULE-2 a retry is put off by chance: %s', async (_what, policy, draw, wantedMs) => {
    await using lab = makeLab();
    const engine = await lab.open({ chance: () => draw });
    const handler = loop((ctx) => ctx.step('call', { retry: { max: 1, ...policy } }, () => Promise.reject(new Error('no'))));
    const handle = await engine.start(handler, null, start);
    await until(lab, 'it waits', () => factsOf(engine.reader, 'step.retried').length === 1);
    const [retried] = factsOf(engine.reader, 'step.retried');
    const { nextTryAt = 0 } = (retried?.data ?? {}) as { readonly nextTryAt?: number };
    const waitMs = nextTryAt - (retried?.at ?? 0);
    // Counted from the failure, and the fact is written a moment later.
    expect(waitMs).toBeLessThanOrEqual(wantedMs);
    expect(waitMs).toBeGreaterThan(wantedMs - 9_000);
    await engine.cancel('r1', { reason: 'enough' });
    await endOf(lab, handle);
  });

  test('RULE-2 what is not retryable is tried once', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    let calls = 0;
    const isRetryable = (error: Fault): boolean => error.code !== 'REFUSED';
    const handler = loop((ctx) =>
      ctx.step('call', { retry: { max: 5, baseMs: 1, isRetryable } }, async () => {
        calls += 1;
        throw new Fault(calls === 1 ? 'BUSY' : 'REFUSED', 'No.');
      }),
    );
    expect(await runToEnd(lab, engine, { handler })).toMatchObject({ error: { code: 'REFUSED' } });
    expect(calls).toBe(2);
  });

  test('RULE-2 a kill while a step waits for its retry neither shortens the wait nor gives back attempts', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const attempts: [number, number][] = [];
    const handler = loop((ctx) =>
      ctx.step('call', { onCrash: 'ask', retry: { max: 1, baseMs: 400 } }, async ({ attempt }) => {
        attempts.push([attempt, lab.time.now()]);
        throw new Fault('BUSY', 'Busy.');
      }),
    );
    await first.start(handler, null, start);
    await until(lab, 'it waits', () => factsOf(first.reader, 'step.retried').length === 1);
    const { handle } = await restart(lab, first, [handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'failed', error: { code: 'BUSY' } });
    expect(attempts.map(([attempt]) => attempt)).toEqual([1, 2]);
    expect((attempts[1]?.[1] ?? 0) - (attempts[0]?.[1] ?? 0)).toBeGreaterThanOrEqual(390);
  });

  test('RULE-2 a performance that takes too long is aborted and fails with STEP_TIMED_OUT', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    let hasHeard = false;
    const handler = loop((ctx) =>
      ctx.step('hang', { timeoutMs: 60 }, async ({ signal }) => {
        await aborted(signal);
        hasHeard = true;
        return 'late';
      }),
    );
    expect(await runToEnd(lab, engine, { handler })).toMatchObject({ state: 'failed', error: { code: 'STEP_TIMED_OUT' } });
    expect(hasHeard).toBe(true);
  });

  test('RULE-8 a cancel ends the wait for a retry', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop((ctx) => ctx.step('call', { retry: { max: 9, baseMs: 3_600_000 } }, () => Promise.reject(new Error('no'))));
    const handle = await engine.start(handler, null, start);
    await until(lab, 'it waits', () => factsOf(engine.reader, 'step.retried').length === 1);
    await engine.cancel('r1', { reason: 'enough' });
    expect(await endOf(lab, handle)).toMatchObject({ state: 'cancelled', error: { message: 'enough' } });
  });

  test('RULE-3 the details of a heartbeat reach the next performance', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const seen: unknown[] = [];
    let isBlocked = true;
    const handler = loop((ctx) =>
      ctx.step('long', {}, async (step) => {
        seen.push(step.lastDetails);
        step.heartbeat({ page: 3 });
        if (isBlocked) await aborted(step.signal);
        step.signal.throwIfAborted();
        return 'read';
      }),
    );
    await first.start(handler, null, start);
    await until(lab, 'it has begun', () => seen.length === 1);
    await lab.time.pass(1_500);
    isBlocked = false;
    const { handle } = await restart(lab, first, [handler]);
    expect(await endOf(lab, handle)).toMatchObject({ output: 'read' });
    expect(seen).toEqual([undefined, { page: 3 }]);
  });

  test('RULE-2 an outcome that its schema refuses fails the step, and a recorded one is checked again', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const number = {
      parse: (value: unknown): number => {
        if (typeof value !== 'number') throw new Error('Not a number.');
        return value;
      },
    };
    const wrong = loop((ctx) => ctx.step<number>('count', { schema: number }, async () => 'seven' as unknown as number));
    expect(await runToEnd(lab, engine, { handler: wrong })).toMatchObject({ state: 'failed', error: { code: 'SCHEMA_MISMATCH' } });
    const unchecked = loop(async (ctx) => {
      await ctx.step('count', {}, async () => 'seven');
      throw new Error('to be opened again');
    });
    const second = { ...start, id: 'r2' as typeof start.id };
    await runToEnd(lab, engine, { handler: unchecked, start: second });
    const checked = loop((ctx) => ctx.step<number>('count', { schema: number }, async () => 7));
    expect(await endOf(lab, await engine.reopen(checked, second.id, null))).toMatchObject({ error: { code: 'SCHEMA_MISMATCH' } });
  });
};
