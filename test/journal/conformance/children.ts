import { expect, test } from 'vitest';
import { endOf, factsOf, gate, type MakeLab, loop, runToEnd, start, until } from './lab.ts';

const echo = loop(async (_ctx, input) => input, 'child-loop');

export const childrenConformance = (makeLab: MakeLab): void => {
  test('RULE-1 a child is a run of its own with the id run/key, and its result reaches the parent', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const handler = loop(async (ctx) => {
      const child = await ctx.child<number>('part', echo, 7, { labels: { kind: 'part' } });
      return [child.id, await child.result()];
    });
    expect(await runToEnd(lab, engine, { handler })).toMatchObject({ state: 'done', output: ['r1/part', 7] });
    expect(engine.reader.run('r1/part')).toMatchObject({
      state: 'done',
      loop: 'child-loop',
      parent: { run: 'r1', key: 'part' },
      labels: { kind: 'part' },
    });
  });

  test('RULE-2 P2 a kill between the child and its parent starts no second child', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    let executions = 0;
    let performed = 0;
    const child = loop(async (ctx) => {
      executions += 1;
      await ctx.step('work', {}, async () => void (performed += 1));
      await ctx.waitFor('go', { signal: 'go' });
      return 'worked';
    }, 'child-loop');
    const handler = loop(async (ctx) => (await ctx.child<string>('part', child, null)).result());
    await first.start(handler, null, start);
    await until(lab, 'the child waits', () => first.reader.run('r1/part')?.waits.length === 1);
    await lab.crash(first);
    const second = await lab.open();
    const handles = await second.recover([handler, child]);
    expect(handles.map(({ id }) => id).toSorted()).toEqual(['r1', 'r1/part']);
    await second.signal('r1/part', 'go', null);
    expect(
      await endOf(
        lab,
        handles.find(({ id }) => id === 'r1'),
      ),
    ).toMatchObject({ state: 'done', output: 'worked' });
    expect([executions, performed]).toEqual([2, 1]);
    expect(second.reader.runs()).toHaveLength(2);
  });

  test('RULE-2 a child that failed fails the call for its result, and the failure is recorded', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const child = loop(() => Promise.reject(new Error('no luck')), 'child-loop');
    const handler = loop(async (ctx) => (await ctx.child('part', child, null)).result());
    const run = await runToEnd(lab, engine, { handler });
    expect(run).toMatchObject({ state: 'failed', error: { code: 'CHILD_FAILED' } });
    expect(run.error?.message).toContain('r1/part');
  });

  test('RULE-8 cancelling a run cancels its children, and leaves those that are to be left', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const child = loop((ctx) => ctx.waitFor('go', { signal: 'go' }), 'child-loop');
    const handler = loop(async (ctx) => {
      const tied = await ctx.child('tied', child, null);
      await ctx.child('left', child, null, { onParentCancel: 'leave' });
      await ctx.child('detached', child, null, { detached: true });
      return tied.result();
    });
    const handle = await engine.start(handler, null, start);
    await until(lab, 'all wait', () => engine.reader.runs().filter((run) => run.waits.length === 1).length === 3);
    await engine.cancel('r1', { reason: 'enough' });
    expect(await endOf(lab, handle)).toMatchObject({ state: 'cancelled', error: { message: 'enough' } });
    expect(engine.reader.run('r1/tied')).toMatchObject({ state: 'cancelled' });
    expect(engine.reader.run('r1/left')).toMatchObject({ state: 'running' });
    expect(engine.reader.run('r1/detached')).toMatchObject({ state: 'running' });
    await engine.signal('r1/left', 'go', null);
    await until(lab, 'the left child ends', () => engine.reader.run('r1/left')?.state === 'done');
  });

  test('RULE-8 a child that its parent cancels ends `cancelled`, and the parent goes on', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const child = loop((ctx) => ctx.waitFor('go', { signal: 'go' }), 'child-loop');
    const handler = loop(async (ctx) => {
      const part = await ctx.child('part', child, null);
      await part.cancel('not needed');
      return part.result().catch((error: unknown) => (error as { code: string }).code);
    });
    expect(await runToEnd(lab, engine, { handler })).toMatchObject({ state: 'done', output: 'CANCELLED' });
    expect(engine.reader.run('r1/part')).toMatchObject({ state: 'cancelled', error: { message: 'not needed' } });
  });

  test('L13 a child that nobody waited for ends with its parent', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const begun = gate();
    const child = loop(async (ctx) => {
      begun.open();
      await ctx.waitFor('never', { signal: 'never' });
    }, 'child-loop');
    const handler = loop(async (ctx) => {
      await ctx.child('part', child, null);
      await begun.opened;
      return 'done';
    });
    expect(await runToEnd(lab, engine, { handler })).toMatchObject({ state: 'done', output: 'done' });
    await until(lab, 'the child has ended', () => engine.reader.run('r1/part')?.endedAt !== undefined);
    expect(engine.reader.run('r1/part')).toMatchObject({ state: 'cancelled' });
    expect(factsOf(engine.reader, 'run.started')).toHaveLength(2);
  });
};
