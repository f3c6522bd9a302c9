import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Fault } from '../../src/core/fault.ts';
import { runId } from '../../src/core/ids.ts';
import { openReader } from '../../src/journal/index.ts';
import { journalFile } from '../../src/journal/schema.ts';
import { aborted, loop, makeLab, start, until } from './lab.ts';

const lockHolder = fileURLToPath(new URL('lock-holder.ts', import.meta.url));

/** A process that holds the write lock; resolves once it does. */
const holdLock = async (stateHome: string, ms: number) => {
  const child = spawn(process.execPath, [lockHolder, journalFile(stateHome), String(ms)], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return { exited: once(child, 'exit'), kill: () => child.kill('SIGKILL') };
};

test('JRN-05 a write lock held by another program for 3 s loses nothing and fails no step', async () => {
  await using lab = makeLab();
  const troubles: Fault[] = [];
  const engine = await lab.open({ onTrouble: (trouble) => troubles.push(trouble) });
  const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
  const handler = loop(async (ctx) => {
    await ctx.step('work', {}, () => gate);
    for (const key of ['a', 'b', 'c']) await ctx.step(key, {}, async () => key);
    return 'done';
  });
  const ids = ['w1', 'w2', 'w3', 'w4'];
  const handles = await Promise.all(ids.map((id) => engine.start(handler, null, { id: runId(id), dedupeKey: id })));
  const holder = await holdLock(lab.stateHome, 3_000);
  openGate();
  const runs = await Promise.all(handles.map((handle) => handle.ended));
  await holder.exited;
  expect(runs.map((run) => run.state)).toEqual(['done', 'done', 'done', 'done']);
  const facts = engine.reader.facts();
  expect(facts.filter((fact) => fact.kind === 'step.completed')).toHaveLength(16);
  expect(facts.filter((fact) => fact.kind === 'step.failed')).toEqual([]);
  expect(engine.reader.verify()).toMatchObject({ ok: true });
  expect(troubles.map((trouble) => trouble.code)).toEqual(['STORAGE_LOCKED']);
});

test('JRN-05 a lock that outlasts the patience stops the engine with one clear fault; nothing acknowledged is lost', async () => {
  await using lab = makeLab();
  const engine = await lab.open({ lockPatienceMs: 300 });
  let isFirst = true;
  const performed: string[] = [];
  const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
  const handler = loop(async (ctx) => {
    await ctx.step('one', {}, async () => void performed.push('one'));
    if (isFirst) await gate;
    isFirst = false;
    // A handler that takes every error for its step's must not get the run past the outage.
    await ctx.step('two', {}, async () => void performed.push('two')).catch(() => performed.push('caught'));
    return 'done';
  });
  const handle = await engine.start(handler, null, start);
  await until('step one is recorded', () => engine.reader.facts({ run: 'r1' }).some((fact) => fact.kind === 'step.completed'));
  const holder = await holdLock(lab.stateHome, 60_000);
  openGate();
  await expect(handle.ended).rejects.toMatchObject({ code: 'STORAGE_LOCKED' });
  await expect(engine.record('note.made', {})).rejects.toMatchObject({ code: 'STORAGE_LOCKED' });
  holder.kill();
  await holder.exited;
  await engine[Symbol.asyncDispose]();
  const second = await lab.open();
  expect(second.reader.run('r1')).toMatchObject({ state: 'running' });
  const [resumed] = await second.recover([handler]);
  expect(await resumed?.ended).toMatchObject({ state: 'done' });
  expect(performed).toEqual(['one', 'caught', 'two']);
});

test('P4 a full disk stops the engine cleanly, the journal stays readable, and the next engine goes on', async () => {
  await using lab = makeLab();
  let database: DatabaseSync | undefined;
  const engine = await lab.open({ diskPatienceMs: 200 }, { database: (db) => (database = db) });
  let isFirst = true;
  const handler = loop(async (ctx) => {
    await ctx.step('small', {}, async () => 'kept');
    if (isFirst) {
      isFirst = false;
      const pages = Number(database?.prepare('PRAGMA page_count').get()?.['page_count']);
      database?.exec(`PRAGMA max_page_count = ${pages}`);
    }
    return ctx.step('large', {}, async () => 'x'.repeat(200_000));
  });
  const handle = await engine.start(handler, null, start);
  await expect(handle.ended).rejects.toMatchObject({ code: 'STORAGE_FULL', hint: expect.stringContaining('Free some space') as string });
  expect(engine.reader.verify()).toMatchObject({ ok: true });
  await engine[Symbol.asyncDispose]();
  using reader = openReader(lab.stateHome);
  expect(reader?.run('r1')).toMatchObject({ state: 'running' });
  expect(reader?.facts().some((fact) => fact.kind === 'step.failed')).toBe(false);
  const second = await lab.open();
  const [resumed] = await second.recover([handler]);
  expect(await resumed?.ended).toMatchObject({ state: 'done' });
});

test('P1 writes of one turn commit together, and each is on disk when its promise resolves', async () => {
  await using lab = makeLab();
  let commits = 0;
  const engine = await lab.open({}, { afterCommit: () => void (commits += 1) });
  using other = openReader(lab.stateHome);
  const before = commits;
  const acknowledged = Array.from({ length: 100 }, async (_, index) => {
    await engine.record('note.made', { index });
    return other?.facts().filter((fact) => fact.kind === 'note.made' && (fact.data as { index: number }).index === index).length;
  });
  expect(await Promise.all(acknowledged)).toEqual(Array.from({ length: 100 }, () => 1));
  expect(commits - before).toBe(1);
});

test('JNL-19 a stale epoch is refused: the engine stops, its signals abort, and it writes nothing more', async () => {
  await using lab = makeLab();
  let database: DatabaseSync | undefined;
  const engine = await lab.open({}, { database: (db) => (database = db) });
  let reason: unknown;
  const handler = loop(async (ctx) => {
    await aborted(ctx.signal);
    reason = ctx.signal.reason;
    throw new Error('torn down');
  });
  const handle = await engine.start(handler, null, start);
  database?.exec('UPDATE owner SET epoch = epoch + 1');
  await expect(engine.record('note.made', {})).rejects.toMatchObject({ code: 'ENGINE_FENCED' });
  await expect(handle.ended).rejects.toMatchObject({ code: 'ENGINE_FENCED' });
  expect(reason).toMatchObject({ code: 'ENGINE_FENCED' });
  expect(engine.reader.facts().map((fact) => fact.kind)).toEqual(['owner.taken', 'run.started']);
  expect(engine.reader.run('r1')).toMatchObject({ state: 'running' });
});
