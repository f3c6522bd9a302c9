import { expect, test } from 'vitest';
import { runId } from '../../../src/core/ids.ts';
import { endOf, type MakeLab, loop, start, until } from './lab.ts';

const asked = { handler: 'test-loop', version: 1, input: { n: 1 }, id: runId('r1'), dedupeKey: 'task-1' };

export const requestsConformance = (makeLab: MakeLab): void => {
  test('RULE-8 a run that another process asked for is begun by the engine that serves its loop', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    await engine.serve([loop(async (_ctx, input) => input)]);
    expect(lab.requests.start({ ...asked, priority: 3, labels: { from: 'cli' } })).toEqual({ run: 'r1', existing: false });
    expect(lab.requests.start({ ...asked, id: runId('r2') })).toEqual({ run: 'r1', existing: true });
    await until(lab, 'it has ended', () => engine.reader.run('r1')?.state === 'done');
    expect(engine.reader.run('r1')).toMatchObject({ output: { n: 1 }, priority: 3, labels: { from: 'cli' } });
    expect(engine.reader.facts({ run: 'r1' })[0]).toMatchObject({ kind: 'run.started' });
    expect(lab.requests.start(asked)).toEqual({ run: 'r1', existing: true });
    expect(engine.reader.runs()).toHaveLength(1);
  });

  test('RULE-8 what was asked for while no engine lived is done by the next one', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    await first[Symbol.asyncDispose]();
    lab.requests.start(asked);
    expect(lab.requests.signal({ run: 'r1', name: 'go', payload: 'now', by: 'cli' })).toEqual({ accepted: true, duplicate: false });
    const second = await lab.open();
    expect(second.reader.run('r1')).toMatchObject({ state: 'pending' });
    await second.serve([loop((ctx) => ctx.waitFor('go', { signal: 'go' }))]);
    await until(lab, 'it has ended', () => second.reader.run('r1')?.state === 'done');
    expect(second.reader.run('r1')?.output).toMatchObject({ kind: 'signal', value: 'now', by: 'cli' });
  });

  test('RULE-5 a signal of another process reaches a run that waits', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handle = await engine.start(
      loop((ctx) => ctx.waitFor('go', { signal: 'go' })),
      null,
      start,
    );
    await until(lab, 'it waits', () => engine.reader.run('r1')?.waits.length === 1);
    lab.requests.signal({ run: 'r1', name: 'go', payload: 1, dedupeKey: 'k' });
    lab.requests.signal({ run: 'r1', name: 'go', payload: 2, dedupeKey: 'k' });
    expect(await endOf(lab, handle)).toMatchObject({ output: { value: 1 } });
    expect(lab.requests.signal({ run: 'r1', name: 'go', payload: 3 })).toEqual({ accepted: false, duplicate: false });
    expect(lab.requests.signal({ run: '', name: 'reload', payload: 4 })).toEqual({ accepted: true, duplicate: false });
    expect(await engine.takeSignals('reload')).toMatchObject([{ payload: 4 }]);
  });

  test('RULE-8 another process pauses a run and lets it go on', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    let performed = 0;
    const handler = loop(async (ctx) => {
      await ctx.waitFor('go', { signal: 'go' });
      await ctx.step('work', {}, async () => void (performed += 1));
    });
    const handle = await engine.start(handler, null, start);
    await until(lab, 'it waits', () => engine.reader.run('r1')?.waits.length === 1);
    expect(lab.requests.state('r1', 'pause', 'a meeting')).toBe(true);
    await until(lab, 'it is paused', () => engine.reader.run('r1')?.state === 'paused');
    await engine.signal('r1', 'go', null);
    await lab.time.pass(300);
    expect(performed).toBe(0);
    expect(lab.requests.state('r1', 'resume', 'over')).toBe(true);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done' });
    expect(lab.requests.state('r1', 'pause', 'late')).toBe(false);
    expect(lab.requests.state('nobody', 'pause', 'x')).toBe(false);
  });

  test('RULE-8 a run that was never begun and is cancelled ends `cancelled` without a call of its handler', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    let calls = 0;
    lab.requests.start(asked);
    expect(lab.requests.cancel('r1', 'changed my mind')).toBe(true);
    await engine.serve([loop(async () => void (calls += 1))]);
    await until(lab, 'it has ended', () => engine.reader.run('r1')?.endedAt !== undefined);
    expect(engine.reader.run('r1')).toMatchObject({ state: 'cancelled', error: { message: 'changed my mind' } });
    expect(calls).toBe(0);
  });

  test('RULE-4 `serve` goes on with the runs of a dead engine, and leaves those of an unknown loop alone', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const handler = loop((ctx) => ctx.waitFor('go', { signal: 'go' }));
    await first.start(handler, null, start);
    await first.start(
      loop((ctx) => ctx.waitFor('go', { signal: 'go' }), 'strange'),
      null,
      { id: runId('r2'), dedupeKey: 'two' },
    );
    await until(lab, 'both wait', () => first.reader.runs().every((run) => run.waits.length === 1));
    await lab.crash(first);
    const second = await lab.open();
    const found = await second.serve([handler]);
    expect(found.map(({ id }) => id)).toEqual(['r1']);
    await second.signal('r1', 'go', 7);
    expect(await endOf(lab, found[0])).toMatchObject({ output: { value: 7 } });
    expect(second.reader.run('r2')).toMatchObject({ state: 'running', attention: undefined });
  });
};
