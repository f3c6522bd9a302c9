import { expect, test } from 'vitest';
import { endOf, type MakeLab, loop, restart, runToEnd, start, until } from './lab.ts';

const text = {
  parse: (value: unknown): string => {
    if (typeof value !== 'string') throw new Error('Not a text.');
    return value;
  },
};

export const signalsConformance = (makeLab: MakeLab): void => {
  test('RULE-5 P12 a signal given before the wait is kept, over a kill too', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const handler = loop(async (ctx) => {
      await ctx.sleep('rest', 100);
      return ctx.waitFor('approval', { signal: 'approve' });
    });
    await first.start(handler, null, start);
    expect(await first.signal('r1', 'approve', { ok: true }, { by: 'ana' })).toEqual({ accepted: true, duplicate: false });
    const { handle } = await restart(lab, first, [handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: { kind: 'signal', value: { ok: true }, by: 'ana' } });
  });

  test('RULE-5 signals of one name are taken first in first out, each once; another name is another line', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop(async (ctx) => {
      const taken: unknown[] = [];
      for (const key of ['one', 'two', 'three']) {
        const answer = await ctx.waitFor(key, { signal: 'line' });
        taken.push(answer.kind === 'signal' ? answer.value : undefined);
      }
      return taken;
    });
    const handle = await engine.start(handler, null, start);
    for (const [name, payload] of [
      ['line', 1],
      ['other', 9],
      ['line', 2],
      ['line', 3],
    ] as const)
      await engine.signal('r1', name, payload);
    expect(await endOf(lab, handle)).toMatchObject({ output: [1, 2, 3] });
    const rows = engine.reader.signals('r1').map(({ name, takenBy }) => [name, takenBy]);
    expect(rows).toEqual([
      ['line', 'one'],
      ['other', undefined],
      ['line', 'two'],
      ['line', 'three'],
    ]);
  });

  test('RULE-5 a taken signal stays with its wait after a kill', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const seen: unknown[] = [];
    const handler = loop(async (ctx) => {
      const one = await ctx.waitFor('one', { signal: 'line' });
      seen.push(one.kind === 'signal' && one.value);
      const two = await ctx.waitFor('two', { signal: 'line' });
      return two.kind === 'signal' && two.value;
    });
    await first.start(handler, null, start);
    await first.signal('r1', 'line', 'a');
    await until(lab, 'the first is taken', () => seen.length === 1);
    const { engine, handle } = await restart(lab, first, [handler]);
    await engine.signal('r1', 'line', 'b');
    expect(await endOf(lab, handle)).toMatchObject({ output: 'b' });
    expect(seen).toEqual(['a', 'a']);
  });

  test('RULE-5 a second signal with the same dedupe key is a duplicate and not stored', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop(async (ctx) => {
      await ctx.waitFor('one', { signal: 'go' });
      return ctx.waitFor('two', { signal: 'go', timeoutMs: 50 });
    });
    const handle = await engine.start(handler, null, start);
    expect(await engine.signal('r1', 'go', 1, { dedupeKey: 'k' })).toEqual({ accepted: true, duplicate: false });
    expect(await engine.signal('r1', 'go', 2, { dedupeKey: 'k' })).toEqual({ accepted: true, duplicate: true });
    expect(await endOf(lab, handle)).toMatchObject({ output: { kind: 'timeout' } });
  });

  test('RULE-5 a signal to a run that has ended, or was never started, is not accepted', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    await runToEnd(lab, engine, { handler: loop(async () => 'done') });
    expect(await engine.signal('r1', 'go', 1)).toEqual({ accepted: false, duplicate: false });
    expect(await engine.signal('nobody', 'go', 1)).toEqual({ accepted: false, duplicate: false });
  });

  test('RULE-5 a wait shows what it waits for, and gives up at an instant that a kill does not move', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const handler = loop((ctx) => ctx.waitFor('approval', { signal: 'approve', timeoutMs: 60_000, describe: 'Land r1?' }));
    await first.start(handler, null, start);
    await until(lab, 'it waits', () => first.reader.run('r1')?.waits.length === 1);
    const [wait] = first.reader.run('r1')?.waits ?? [];
    expect(wait).toMatchObject({ key: 'approval', on: 'signal', signal: 'approve', describe: 'Land r1?' });
    expect(wait?.until).toBeGreaterThan(0);
    lab.time.jump(60_000);
    const { engine, handle } = await restart(lab, first, [handler]);
    expect(await endOf(lab, handle)).toMatchObject({ output: { kind: 'timeout' }, waits: [] });
    expect(engine.reader.run('r1')?.waits).toEqual([]);
  });

  test('RULE-5 P5 a signal of another name does not end a wait before its time', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop(async (ctx) => {
      const begun = lab.time.now();
      const answer = await ctx.waitFor('approval', { signal: 'approve', timeoutMs: 400 });
      return [answer.kind, lab.time.now() - begun >= 390];
    });
    const handle = await engine.start(handler, null, start);
    await until(lab, 'it waits', () => engine.reader.run('r1')?.waits.length === 1);
    await engine.signal('r1', 'other', 1);
    expect(await endOf(lab, handle)).toMatchObject({ output: ['timeout', true] });
  });

  test('RULE-5 a payload that does not fit is refused with a fact, and the wait goes on', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop(async (ctx) => ctx.waitFor('name', { signal: 'name', schema: text }));
    const handle = await engine.start(handler, null, start);
    await engine.signal('r1', 'name', 7);
    await engine.signal('r1', 'name', 'seven');
    expect(await endOf(lab, handle)).toMatchObject({ output: { kind: 'signal', value: 'seven' } });
    expect(engine.reader.facts({ run: 'r1' }).filter((fact) => fact.kind === 'signal.refused')).toHaveLength(1);
  });

  test('RULE-5 signals of the engine itself are always accepted and each taken once, by whichever engine lives', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    await first.signal('', 'reload', 1, { by: 'cli' });
    await lab.crash(first);
    const second = await lab.open();
    await second.signal('', 'reload', 2);
    await second.signal('', 'other', 3);
    expect(await second.takeSignals('reload')).toMatchObject([
      { payload: 1, by: 'cli' },
      { payload: 2, by: '' },
    ]);
    expect(await second.takeSignals('reload')).toEqual([]);
  });
};
