import { expect, test } from 'vitest';
import { runId } from '../../../src/core/ids.ts';
import { aborted, endOf, type MakeLab, loop, restart, runToEnd, start, until } from './lab.ts';

const large = 'ü'.repeat(200_000);

export const blobsConformance = (makeLab: MakeLab): void => {
  test('RULE-6 JNL-13 an outcome over 256 KiB comes back whole, on a replay too, and no fact holds it', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const seen: unknown[] = [];
    let isBlocked = true;
    const handler = loop(async (ctx) => {
      const text = await ctx.step('log', {}, async () => large);
      seen.push(text === large);
      if (isBlocked) await aborted(ctx.signal);
      ctx.signal.throwIfAborted();
      return text;
    });
    await first.start(handler, null, start);
    await until(lab, 'the step is recorded', () => seen.length === 1);
    isBlocked = false;
    const { engine, handle } = await restart(lab, first, [handler]);
    const run = await endOf(lab, handle);
    expect([run.state, run.output === large, engine.reader.run('r1')?.output === large]).toEqual(['done', true, true]);
    expect(seen).toEqual([true, true]);
    for (const line of engine.reader.exportLines()) expect(Buffer.byteLength(line)).toBeLessThan(280 * 1024);
    expect(engine.reader.verify()).toMatchObject({ ok: true });
  });

  test('RULE-6 a large input and a large signal reach the handler whole', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop(async (ctx, input) => {
      const answer = await ctx.waitFor<string>('answer', { signal: 'answer' });
      return [input === large, answer.kind === 'signal' && answer.value === large];
    });
    const handle = await engine.start(handler, large, start);
    await engine.signal('r1', 'answer', large);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: [true, true] });
  });

  test('RULE-6 what is no JSON is refused, and fails the step that gave it', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const handler = loop((ctx) => ctx.step('cycle', {}, async () => cyclic));
    expect(await runToEnd(lab, engine, { handler })).toMatchObject({ state: 'failed', error: { code: 'PAYLOAD_NOT_JSON' } });
    const other = { id: runId('r2'), dedupeKey: 'other' };
    await expect(engine.start(handler, cyclic, other)).rejects.toMatchObject({ code: 'PAYLOAD_NOT_JSON' });
  });
};
