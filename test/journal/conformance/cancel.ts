import { expect, test } from 'vitest';
import { runId } from '../../../src/core/ids.ts';
import { CancelledError } from '../../../src/journal/index.ts';
import { shellSpec } from '../test-process-host.ts';
import { type MakeLab, aborted, endOf, kindsOf, loop, start, until } from './lab.ts';

export const cancelConformance = (makeLab: MakeLab): void => {
  test('JNL-06 a cancel written by anyone reaches the step, ends the run `cancelled`, and the cleanups run last in first out', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const trail: string[] = [];
    const handler = loop(async (ctx) => {
      ctx.cleanup('close-a', async () => void trail.push('close-a'));
      ctx.cleanup('close-b', async () => void trail.push('close-b'));
      await ctx.step('wait', {}, async ({ signal }) => {
        trail.push('waiting');
        await aborted(signal);
        throw new Error('torn down');
      });
    });
    const handle = await engine.start(handler, null, start);
    await until(lab, 'the step waits', () => trail.length === 1);
    expect(lab.requests.cancel(start.id, 'enough')).toBe(true);
    const run = await endOf(lab, handle);
    expect(run).toMatchObject({ state: 'cancelled', error: { code: 'CANCELLED', message: 'enough' } });
    expect(trail).toEqual(['waiting', 'close-b', 'close-a']);
    const kinds = kindsOf(engine.reader.facts({ run: 'r1' }));
    expect(kinds).toContain('run.cancel-requested');
    expect(kinds).not.toContain('step.failed');
    expect(lab.requests.cancel(start.id, 'again')).toBe(false);
    expect(lab.requests.cancel(runId('nobody'), 'x')).toBe(false);
  });

  test('JNL-07 a cancelled run that is opened again performs the cancelled step anew and keeps the recorded ones', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const trail: string[] = [];
    const handler = loop(async (ctx, input) => {
      ctx.cleanup('tidy', async () => void trail.push('tidy'));
      await ctx.step('one', {}, async () => void trail.push('one'));
      await ctx.step('two', {}, async ({ signal }) => {
        trail.push('two');
        if (input === 'block') await aborted(signal);
        signal.throwIfAborted();
      });
    });
    const handle = await engine.start(handler, 'block', start);
    await until(lab, 'step two runs', () => trail.includes('two'));
    await engine.cancelAll('shutdown');
    expect(await endOf(lab, handle)).toMatchObject({ state: 'cancelled' });
    expect(await endOf(lab, await engine.reopen(handler, start.id, 'go'))).toMatchObject({ state: 'done' });
    expect(trail).toEqual(['one', 'two', 'tidy', 'two', 'tidy']);
  });

  test('JNL-08 a cancel asked for while no engine lives is obeyed by the next one', async () => {
    await using lab = makeLab();
    const trail: string[] = [];
    const handler = loop(async (ctx) => {
      ctx.cleanup('tidy', async () => void trail.push('tidy'));
      await ctx.step('one', {}, async () => void trail.push('one'));
      await ctx.step('two', {}, async ({ signal }) => {
        trail.push('two');
        await aborted(signal);
        signal.throwIfAborted();
      });
    });
    const first = await lab.open();
    await first.start(handler, null, start);
    await until(lab, 'step two runs', () => trail.includes('two'));
    await first[Symbol.asyncDispose]();
    expect(lab.requests.cancel(start.id, 'while down')).toBe(true);
    const second = await lab.open();
    const [handle] = await second.recover([handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'cancelled', error: { message: 'while down' } });
    expect(trail).toEqual(['one', 'two', 'tidy']);
  });

  test('JNL-09 a CancelledError thrown by the handler ends the run `cancelled`', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handle = await engine.start(
      loop(() => Promise.reject(new CancelledError('not today'))),
      null,
      start,
    );
    expect(await endOf(lab, handle)).toMatchObject({ state: 'cancelled', error: { message: 'not today' } });
  });

  test('JNL-17 what the handler does not wait for is ended before the run ends', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    let hasEnded = false;
    let running = 0;
    const handler = loop(async (ctx) => {
      void ctx.step('stray', {}, async ({ signal }) => {
        await aborted(signal);
        await new Promise((resolve) => setTimeout(resolve, 100));
        hasEnded = true;
        throw new Error('stray');
      });
      void ctx.spawn('stray-process', shellSpec('sleep 300', '/'), { watch: () => void (running += 1) });
      await ctx.sleep('a-little', 20);
      await until(lab, 'the stray process runs', () => running === 1);
      throw new Error('the real reason');
    });
    const run = await endOf(lab, await engine.start(handler, null, start));
    expect(run).toMatchObject({ state: 'failed', error: { message: 'the real reason' } });
    expect(hasEnded).toBe(true);
    expect(await lab.processes.inspect(lab.processes.started[0] ?? '')).toBe('ended');
  });
};
