import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runId } from '../../src/core/ids.ts';
import { openReader, requestSignal, requestStart, type Timers } from '../../src/journal/index.ts';
import { systemTimers } from '../../src/journal/timers.ts';
import { aborted, loop, makeLab, start, until } from './lab.ts';
import { shellSpec } from './test-process-host.ts';

test('DUR-20 another process wakes a serving engine through the wake file, also when its poll never comes', async () => {
  await using lab = makeLab();
  // The poll of 200 ms never fires; all else does.
  const timers: Timers = { after: (ms, fn) => (ms === 200 ? { cancel: () => {} } : systemTimers.after(ms, fn)) };
  const engine = await lab.open({ timers });
  await engine.serve([loop((ctx) => ctx.waitFor('answer', { signal: 'answer' }))]);
  requestStart(lab.stateHome, { handler: 'test-loop', version: 1, input: null, id: start.id, dedupeKey: 'd' });
  await until('the run waits', () => engine.reader.run('r1')?.waits.length === 1);
  requestSignal(lab.stateHome, { run: 'r1', name: 'answer', payload: 42 });
  await until('the run ends', () => engine.reader.run('r1')?.state === 'done');
});

test('DUR-21 draining begins no new effect, waits for the one in flight, and leaves the run to the next engine', async () => {
  await using lab = makeLab();
  const performed: string[] = [];
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const handler = loop(async (ctx) => {
    await ctx.step('long', {}, async ({ signal }) => {
      begin();
      await gate;
      performed.push(signal.aborted ? 'long, aborted' : 'long');
    });
    await ctx.step('next', {}, async () => void performed.push('next'));
    return 'end';
  });
  const first = await lab.open();
  const handle = await first.start(handler, null, start);
  await begun;
  const drained = first.drain({ graceMs: 60_000 });
  await expect(first.start(handler, null, { id: runId('r2'), dedupeKey: 'other' })).rejects.toMatchObject({ code: 'ENGINE_DRAINING' });
  open();
  await drained;
  await expect(handle.ended).rejects.toMatchObject({ code: 'ENGINE_DISPOSED' });
  expect(performed).toEqual(['long']);
  const second = await lab.open();
  const [resumed] = await second.serve([handler]);
  expect(await resumed?.ended).toMatchObject({ state: 'done', output: 'end' });
  expect(performed).toEqual(['long', 'next']);
});

test('DUR-22 draining ends with its grace, whatever an effect does', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const handler = loop((ctx) =>
    ctx.step('stubborn', {}, async ({ signal }) => {
      begin();
      await aborted(signal);
      signal.throwIfAborted();
    }),
  );
  await engine.start(handler, null, start);
  await begun;
  await engine.drain({ graceMs: 50 });
  using reader = openReader(lab.stateHome);
  expect(reader?.run('r1')).toMatchObject({ state: 'running' });
  expect(reader?.owner()).toBeUndefined();
});

test('DUR-23 pending runs begin by priority, then in the order they were asked for', async () => {
  await using lab = makeLab();
  const begun: string[] = [];
  for (const [id, priority] of [
    ['a', 0],
    ['b', 0],
    ['c', 5],
  ] as const)
    requestStart(lab.stateHome, { handler: 'test-loop', version: 1, input: null, id: runId(id), dedupeKey: id, priority });
  const engine = await lab.open();
  const handles = await engine.serve([loop(async (ctx) => void begun.push(ctx.run.id))]);
  await Promise.all(handles.map(({ ended }) => ended));
  expect(begun).toEqual(['c', 'a', 'b']);
});

test('DUR-24 retrying from a step needs a handler, and takes up a child that had failed', async () => {
  await using lab = makeLab();
  let isBroken = true;
  const child = loop(async (ctx) => ctx.step('work', {}, async () => (isBroken ? Promise.reject(new Error('broken')) : 'whole')), 'child');
  const parent = loop(async (ctx) => (await ctx.child('c', child, null)).result());
  const first = await lab.open();
  expect(await (await first.start(parent, null, start)).ended).toMatchObject({ state: 'failed', error: { code: 'CHILD_FAILED' } });
  await first[Symbol.asyncDispose]();
  isBroken = false;
  const second = await lab.open();
  await expect(second.retryFrom('r1', 'c')).rejects.toMatchObject({ code: 'HANDLER_UNKNOWN' });
  await second.serve([parent, child]);
  expect(await (await second.retryFrom('r1', 'c')).ended).toMatchObject({ state: 'done', generation: 2, output: 'whole' });
  expect(second.reader.run('r1/c')).toMatchObject({ state: 'done', generation: 2, parent: { run: 'r1', key: 'c' } });
});

test('DUR-25 each history of a run names its effects, children and processes anew', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  const names: string[] = [];
  const child = loop(async (ctx) => ctx.run.id, 'child');
  const handler = loop(async (ctx, input) => {
    names.push(await ctx.step('push', {}, async ({ idempotencyKey }) => idempotencyKey));
    names.push(await (await ctx.child<string>('c', child, null)).result());
    await ctx.spawn('p', shellSpec('exit 0', '/'));
    return input === 1 ? ctx.continueAs(2) : 'end';
  });
  expect(await (await engine.start(handler, 1, start)).ended).toMatchObject({ state: 'done', generation: 2, output: 'end' });
  expect(names).toEqual(['r1/push', 'r1/c', 'r1/g2/push', 'r1/g2/c']);
  expect(new Set(lab.processes.started).size).toBe(2);
});

test('DUR-26 the branches that lost a race leave no wait and no child behind', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  const child = loop((ctx) => ctx.waitFor('forever', { signal: 'never' }), 'child');
  const handler = loop(async (ctx) => {
    const { winner } = await ctx.race<unknown>('r', {
      child: async (scoped) => (await scoped.child('c', child, null)).result(),
      wait: (scoped) => scoped.waitFor('w', { signal: 'never' }),
      go: (scoped) => scoped.waitFor('g', { signal: 'go' }),
    });
    await ctx.waitFor('end', { signal: 'end' });
    return winner;
  });
  const handle = await engine.start(handler, null, start);
  await until('the child waits', () => engine.reader.run('r1/r/child/c')?.waits.length === 1);
  await engine.signal('r1', 'go', null);
  await until('the child was cancelled', () => engine.reader.run('r1/r/child/c')?.state === 'cancelled');
  await until('the race is over', () => engine.reader.run('r1')?.waits.some(({ key }) => key === 'end') === true);
  expect(engine.reader.run('r1')?.waits.map(({ key }) => key)).toEqual(['end']);
  await engine.signal('r1', 'end', null);
  expect(await handle.ended).toMatchObject({ state: 'done', output: 'go' });
});

test('DUR-27 P2 a process under `ask` whose end nobody knows parks the run; a person lets it be started again', async () => {
  await using lab = makeLab();
  const flag = `${lab.stateHome}-flag`;
  let running = 0;
  const handler = loop((ctx) =>
    ctx.spawn('deploy', shellSpec(`[ -e '${flag}' ] || sleep 300`, '/'), { onCrash: 'ask', watch: () => void (running += 1) }),
  );
  const first = await lab.open();
  await first.start(handler, null, start);
  await until('the process runs', () => running === 1);
  await first[Symbol.asyncDispose]();
  const [jobDir = ''] = lab.processes.started;
  process.kill(-Number(readFileSync(`${jobDir}/pid`, 'utf8')), 'SIGKILL');
  await until('the process is gone', () => !existsSync(`/proc/${readFileSync(`${jobDir}/pid`, 'utf8').trim()}`));
  const second = await lab.open();
  const [handle] = await second.serve([handler]);
  await until('the run is parked', () => second.reader.run('r1')?.state === 'needs-attention');
  expect(second.reader.run('r1')?.attention).toMatchObject({ code: 'STEP_UNKNOWN', step: 'deploy' });
  expect(lab.processes.started).toHaveLength(1);
  writeFileSync(flag, '');
  await second.decide('r1', 'deploy', 'perform-again');
  expect(await handle?.ended).toMatchObject({ state: 'done', output: { exitCode: 0 } });
  expect(lab.processes.started).toHaveLength(2);
  rmSync(flag);
});

test('DUR-28 a process under `rerun` is ended and started anew by the next engine', async () => {
  await using lab = makeLab();
  const flag = `${lab.stateHome}-flag`;
  let running = 0;
  const line = `[ -e '${flag}' ] || sleep 300`;
  const handler = loop((ctx) => ctx.spawn('check', shellSpec(line, '/'), { onCrash: 'rerun', watch: () => void (running += 1) }));
  const first = await lab.open();
  await first.start(handler, null, start);
  await until('the process runs', () => running === 1);
  await first[Symbol.asyncDispose]();
  writeFileSync(flag, '');
  const second = await lab.open();
  const [handle] = await second.recover([handler]);
  expect(await handle?.ended).toMatchObject({ state: 'done', output: { exitCode: 0, wasAdopted: false } });
  expect(await lab.processes.inspect(lab.processes.started[0] ?? '')).toBe('ended');
  expect(lab.processes.started).toHaveLength(2);
  rmSync(flag);
});

test('DUR-29 a child left open by a dead engine goes on with the handler its parent brings', async () => {
  await using lab = makeLab();
  const child = loop((ctx) => ctx.waitFor('answer', { signal: 'answer' }), 'child');
  const parent = loop(async (ctx) => (await ctx.child('c', child, null)).result());
  const first = await lab.open();
  await first.start(parent, null, start);
  await until('the child waits', () => first.reader.run('r1/c')?.waits.length === 1);
  await first[Symbol.asyncDispose]();
  const second = await lab.open();
  const [handle] = await second.recover([parent]);
  await second.signal('r1/c', 'answer', 'yes');
  expect(await handle?.ended).toMatchObject({ state: 'done', output: { value: 'yes' } });
  expect(second.reader.facts({ run: 'r1/c' }).filter(({ kind }) => kind === 'run.resumed')).toHaveLength(1);
});
