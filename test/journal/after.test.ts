import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loop, makeLab, start } from './lab.ts';

const disposeChild = fileURLToPath(new URL('dispose-child.ts', import.meta.url));

test('L13 a process that closed its engine ends by itself: no timer or handle is left', async () => {
  await using lab = makeLab();
  const child = spawn(process.execPath, [disposeChild, lab.stateHome], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  // The child ends only when nothing keeps its event loop alive.
  expect(await exited).toEqual([0, null]);
});

test('L13 a closed engine refuses calls with one clear fault, and closing twice is once', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  await Promise.all([engine[Symbol.asyncDispose](), engine[Symbol.asyncDispose]()]);
  await expect(
    engine.start(
      loop(async () => 1),
      null,
      start,
    ),
  ).rejects.toMatchObject({ code: 'ENGINE_DISPOSED' });
  await expect(engine.record('note.made', 1)).rejects.toMatchObject({ code: 'ENGINE_DISPOSED' });
});

test('JNL-26 an effect that ends while the engine closes is recorded, because it happened', async () => {
  await using lab = makeLab();
  let performed = 0;
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const handler = loop(async (ctx) => {
    await ctx.step('commit', {}, async () => {
      performed += 1;
      begin();
      await new Promise((resolve) => setTimeout(resolve, 100));
      return 'sha';
    });
    await ctx.step('next', {}, async () => 'next');
    return 'end';
  });
  const first = await lab.open();
  await first.start(handler, null, start);
  await begun;
  await first[Symbol.asyncDispose]();
  const second = await lab.open();
  expect(second.reader.facts({ run: 'r1' }).map((fact) => fact.kind)).toEqual(['run.started', 'step.intended', 'step.completed']);
  const [handle] = await second.recover([handler]);
  expect(await handle?.ended).toMatchObject({ state: 'done' });
  expect(performed).toBe(1);
});

test('JNL-27 a domain fact may not pass for one of the engine, and its kind reads noun.past-participle', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  await expect(engine.record('run.ended', {})).rejects.toThrow("the engine's own");
  await expect(engine.record('Something', {})).rejects.toThrow('noun.past-participle');
  await engine.record('tick.skipped', { why: 'overlap' });
  expect(engine.reader.facts().at(-1)).toMatchObject({ kind: 'tick.skipped', run: '', data: { why: 'overlap' } });
});
