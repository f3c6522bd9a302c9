import { expect, test } from 'vitest';
import { aborted, endOf, type MakeLab, loop, restart, start, until } from './lab.ts';

export const ownershipConformance = (makeLab: MakeLab): void => {
  test('RULE-4 a state home has one engine at a time, and a new one when that is gone', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    await expect(lab.open()).rejects.toMatchObject({ code: 'STATE_HOME_HELD' });
    expect(first.reader.owner()).toMatchObject({ epoch: 1, alive: true });
    await first[Symbol.asyncDispose]();
    const second = await lab.open();
    expect(second.reader.owner()).toMatchObject({ epoch: 2 });
  });

  test('RULE-4 P1 an engine that has ended writes nothing more and says why', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const handler = loop((ctx) => ctx.waitFor('go', { signal: 'go' }));
    const handle = await first.start(handler, null, start);
    await lab.crash(first);
    const second = await lab.open();
    const facts = second.reader.facts().length;
    await expect(first.start(handler, null, start)).rejects.toBeInstanceOf(Error);
    await expect(first.record('note.made', {})).rejects.toBeInstanceOf(Error);
    await expect(handle.ended).rejects.toBeInstanceOf(Error);
    expect(second.reader.facts()).toHaveLength(facts);
  });

  test('RULE-4 the effect of a dead engine that comes to its end late is not recorded', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const performed: number[] = [];
    const handler = loop((ctx) =>
      ctx.step('work', {}, async ({ signal, epoch }) => {
        performed.push(epoch);
        if (epoch === 1) await aborted(signal);
        return epoch;
      }),
    );
    await first.start(handler, null, start);
    await until(lab, 'it works', () => performed.length === 1);
    const { handle } = await restart(lab, first, [handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: 2 });
  });

  test('RULE-4 P1 P2 a kill between a write and its acknowledgement loses nothing and repeats nothing', async () => {
    await using lab = makeLab();
    let commits = 0;
    let killAt = Infinity;
    const die = (): void => {
      commits += 1;
      if (commits === killAt) throw new Error('The test ends the engine here.');
    };
    let performed = 0;
    const handler = loop((ctx) => ctx.step('work', {}, async () => (performed += 1)));
    const first = await lab.open({ afterCommit: die });
    // The run and the intent come first; the third write holds the outcome.
    killAt = 3;
    const handle = await first.start(handler, null, start);
    await expect(endOf(lab, handle)).rejects.toBeInstanceOf(Error);
    const { engine, handle: resumed } = await restart(lab, first, [handler]);
    expect(await endOf(lab, resumed)).toMatchObject({ state: 'done', output: 1 });
    expect(performed).toBe(1);
    expect(engine.reader.verify()).toMatchObject({ ok: true });
  });

  test('RULE-7 P4 while the storage is away nothing fails: what a step gave is recorded when it is back', async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    let performed = 0;
    let end = (): void => {};
    const handler = loop((ctx) =>
      ctx.step('work', {}, async () => {
        end = lab.outage();
        return (performed += 1);
      }),
    );
    const handle = await engine.start(handler, null, start);
    await until(lab, 'the storage is away', () => performed === 1);
    await lab.time.pass(200);
    expect(engine.reader.run('r1')).toMatchObject({ state: 'running' });
    end();
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done', output: 1 });
    expect(engine.reader.facts({ run: 'r1' }).map(({ kind }) => kind)).toEqual([
      'run.started',
      'step.intended',
      'step.completed',
      'run.ended',
    ]);
  });

  test('L13 draining begins nothing new, lets what runs come to its end, and gives the state home back', async () => {
    await using lab = makeLab();
    const first = await lab.open();
    const trail: string[] = [];
    const handler = loop(async (ctx) => {
      await ctx.step('one', {}, async () => {
        trail.push('one begins');
        await new Promise((resolve) => setTimeout(resolve, 60));
        trail.push('one ends');
      });
      await ctx.step('two', {}, async () => void trail.push('two'));
    });
    await first.start(handler, null, start);
    await until(lab, 'one runs', () => trail.length === 1);
    let isDrained = false;
    const drained = first.drain({ graceMs: 10_000 }).then(() => (isDrained = true));
    await until(lab, 'it is drained', () => isDrained);
    await drained;
    expect(trail).toEqual(['one begins', 'one ends']);
    const second = await lab.open();
    const [handle] = await second.recover([handler]);
    expect(await endOf(lab, handle)).toMatchObject({ state: 'done' });
    expect(trail).toEqual(['one begins', 'one ends', 'two']);
  });
};
