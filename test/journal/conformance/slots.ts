import { expect, test } from 'vitest';
import { endOf, type MakeLab, loop, startOf, until } from './lab.ts';

export const slotsConformance = (makeLab: MakeLab): void => {
  test('RULE-9 P6 a slot is held by at most as many steps as there are, over all runs', async () => {
    await using lab = makeLab();
    const engine = await lab.open({ slots: { agent: 2 } });
    let now = 0;
    let most = 0;
    const handler = loop((ctx) =>
      ctx.step('work', { slots: { agent: 1 } }, async () => {
        now += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setTimeout(resolve, 5));
        now -= 1;
      }),
    );
    const handles = await Promise.all(Array.from({ length: 7 }, (_, index) => engine.start(handler, null, startOf(`r${index}`))));
    for (const handle of handles) expect(await endOf(lab, handle)).toMatchObject({ state: 'done' });
    expect(most).toBe(2);
  });

  test('RULE-9 a run that waits holds no slot: a step waiting for its retry, a wait for a signal', async () => {
    await using lab = makeLab();
    const engine = await lab.open({ slots: { agent: 1 } });
    let tries = 0;
    const retrying = loop((ctx) =>
      ctx.step('work', { slots: { agent: 1 }, retry: { max: 1, baseMs: 3_000 } }, async () => {
        tries += 1;
        if (tries === 1) throw new Error('once');
      }),
    );
    const waiting = loop(async (ctx) => {
      await ctx.step('work', { slots: { agent: 1 } }, async () => {});
      await ctx.waitFor('go', { signal: 'go' });
    });
    const first = await engine.start(retrying, null, startOf('r1'));
    await until(lab, 'it waits for its retry', () => engine.reader.facts().some(({ kind }) => kind === 'step.retried'));
    const second = await engine.start(waiting, null, startOf('r2'));
    await until(lab, 'it waits for a signal', () => engine.reader.run('r2')?.waits.length === 1);
    const third = await endOf(
      lab,
      await engine.start(
        loop((ctx) => ctx.step('work', { slots: { agent: 1 } }, async () => 3)),
        null,
        startOf('r3'),
      ),
    );
    expect(third).toMatchObject({ state: 'done', output: 3 });
    expect(engine.reader.run('r1')?.endedAt).toBeUndefined();
    await engine.signal('r2', 'go', null);
    expect([await endOf(lab, first), await endOf(lab, second)]).toMatchObject([{ state: 'done' }, { state: 'done' }]);
  });

  test('RULE-9 waiting steps get a slot by priority, then in the order they asked', async () => {
    await using lab = makeLab();
    const engine = await lab.open({ slots: { agent: 1 } });
    const trail: string[] = [];
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const handler = loop((ctx, input) =>
      ctx.step('work', { slots: { agent: 1 } }, async () => {
        trail.push(ctx.run.id);
        if (input === 'hold') await held;
      }),
    );
    const handles = [await engine.start(handler, 'hold', startOf('holder'))];
    await until(lab, 'the slot is held', () => trail.length === 1);
    for (const [id, priority] of [
      ['low', 0],
      ['low-2', 0],
      ['high', 5],
    ] as const) {
      handles.push(await engine.start(handler, null, startOf(id, { priority })));
      await lab.time.pass(20);
    }
    release();
    for (const handle of handles) await endOf(lab, handle);
    expect(trail).toEqual(['holder', 'high', 'low', 'low-2']);
  });

  test('RULE-8 RULE-9 a step that waits for a slot hears a cancel, and gives up its place', async () => {
    await using lab = makeLab();
    const engine = await lab.open({ slots: { agent: 1 } });
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const handler = loop((ctx, input) => ctx.step('work', { slots: { agent: 1 } }, async () => (input === 'hold' ? held : undefined)));
    const holder = await engine.start(handler, 'hold', startOf('holder'));
    const waiter = await engine.start(handler, null, startOf('waiter'));
    await lab.time.pass(20);
    await engine.cancel('waiter', { reason: 'enough' });
    expect(await endOf(lab, waiter)).toMatchObject({ state: 'cancelled' });
    release();
    expect(await endOf(lab, holder)).toMatchObject({ state: 'done' });
    expect(await endOf(lab, await engine.start(handler, null, startOf('next')))).toMatchObject({ state: 'done' });
  });
};
