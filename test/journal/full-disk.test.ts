import { cpSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Fault } from '../../src/core/fault.ts';
import { epochMs, runId } from '../../src/core/ids.ts';
import { openReader, requestSignal } from '../../src/journal/index.ts';
import { loop, makeLab, start, until } from './lab.ts';
import { canMount, mountSmallDisk } from './small-disk.ts';

const mebibyte = 1024 * 1024;

/** Fills a folder's disk to its last block. */
const fill = (folder: string): void => {
  for (let size = mebibyte, part = 0; size >= 1_024; part += 1) {
    try {
      writeFileSync(path.join(folder, `filler-${part}`), Buffer.alloc(size, 1));
    } catch {
      size /= 2;
    }
  }
};
const freeRoom = (folder: string): void => {
  for (let part = 0; part < 60; part += 1) rmSync(path.join(folder, `filler-${part}`), { force: true });
};

test.runIf(canMount)(
  'P4 on a full tmpfs the reserve goes, the last facts and the end of the run fit, and the engine stops cleanly',
  async () => {
    using disk = mountSmallDisk(12);
    if (disk === undefined) throw new Error('mounted a moment ago');
    const stateHome = path.join(disk.folder, 'state');
    await using lab = makeLab();
    const troubles: Fault[] = [];
    const engine = await lab.open({ stateHome, diskPatienceMs: 1_500, onTrouble: (trouble) => troubles.push(trouble) });
    expect(statSync(path.join(stateHome, 'reserve')).size).toBe(mebibyte);
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
    const first = loop(async (ctx) => {
      await ctx.step('one', {}, async () => 'kept');
      await gate;
      return ctx.step('large', {}, async () => 'x'.repeat(200_000));
    });
    const forever = loop(async (ctx) => {
      await ctx.step('one', {}, async () => 'kept');
      await gate;
      await ctx.sleep('long', 60_000);
      return 'late';
    }, 'forever');
    const ends = await engine.start(first, null, start);
    const open = await engine.start(forever, null, { id: runId('r2'), dedupeKey: 'task-2' });
    await until('both are at the gate', () => engine.reader.facts().filter(({ kind }) => kind === 'step.completed').length === 2);
    fill(disk.folder);
    openGate();
    // The outcome of 200,000 bytes and the end of the run are written in the room of the reserve.
    expect(await ends.ended).toMatchObject({ state: 'done' });
    expect(existsSync(path.join(stateHome, 'reserve'))).toBe(false);
    await expect(open.ended).rejects.toMatchObject({ code: 'STORAGE_FULL', hint: expect.stringContaining('Free some space') as string });
    expect(troubles.map(({ code }) => code)).toEqual(['STORAGE_FULL']);
    await engine[Symbol.asyncDispose]();

    using reader = openReader(stateHome);
    expect(reader?.verify()).toMatchObject({ ok: true });
    expect(reader?.facts().map(({ kind }) => kind)).toContain('disk.filled');
    expect(reader?.facts().some(({ kind }) => kind === 'step.failed')).toBe(false);
    expect(reader?.run('r2')).toMatchObject({ state: 'running' });

    freeRoom(disk.folder);
    const second = await lab.open({ stateHome, clock: () => epochMs(Date.now() + 120_000) });
    expect(statSync(path.join(stateHome, 'reserve')).size).toBe(mebibyte);
    const [resumed] = await second.recover([forever]);
    expect(await resumed?.ended).toMatchObject({ state: 'done', output: 'late' });
  },
);

test.runIf(canMount)('P4 room that comes back within the patience is taken for a new reserve, and nothing stops', async () => {
  using disk = mountSmallDisk(12);
  if (disk === undefined) throw new Error('mounted a moment ago');
  const stateHome = path.join(disk.folder, 'state');
  await using lab = makeLab();
  const engine = await lab.open({ stateHome, diskPatienceMs: 30_000 });
  fill(disk.folder);
  for (let index = 0; existsSync(path.join(stateHome, 'reserve')); index += 1)
    await engine.record('note.made', { index, text: 'x'.repeat(50_000) });
  await engine.record('note.made', { text: 'in the room of the reserve' });
  freeRoom(disk.folder);
  await until('there is a reserve again', () => existsSync(path.join(stateHome, 'reserve')));
  await engine.record('note.made', { text: 'after' });
  expect(engine.reader.verify()).toMatchObject({ ok: true });
});

test.runIf(canMount)(
  'P4 with no room for a reserve the engine says so at once, and a large outcome waits for room like any other',
  async () => {
    using disk = mountSmallDisk(12);
    if (disk === undefined) throw new Error('mounted a moment ago');
    const stateHome = path.join(disk.folder, 'state');
    await using lab = makeLab();
    await (await lab.open({ stateHome }))[Symbol.asyncDispose]();
    fill(disk.folder);
    rmSync(path.join(stateHome, 'reserve'));
    writeFileSync(path.join(disk.folder, 'filler-50'), Buffer.alloc(512 * 1024, 1));
    const troubles: Fault[] = [];
    const engine = await lab.open({ stateHome, diskPatienceMs: 30_000, onTrouble: (trouble) => troubles.push(trouble) });
    expect(troubles.map(({ code }) => code)).toEqual(['RESERVE_MISSING']);
    const handler = loop((ctx) => ctx.step('large', {}, async () => 'x'.repeat(700_000)));
    const handle = await engine.start(handler, null, start);
    await until('the engine says that the disk is full', () => troubles.length > 1);
    freeRoom(disk.folder);
    expect(await handle.ended).toMatchObject({ state: 'done' });
    expect(engine.reader.run('r1')?.output).toHaveLength(700_000);
    expect(engine.reader.facts().some(({ kind }) => kind === 'step.failed')).toBe(false);
  },
);

test.runIf(canMount)(
  'P4 on a read-only disk readers go on, with and without a log, and engine and requests are refused with a sentence',
  async () => {
    using disk = mountSmallDisk(12);
    if (disk === undefined) throw new Error('mounted a moment ago');
    const stateHome = path.join(disk.folder, 'state');
    await using lab = makeLab();
    const engine = await lab.open({ stateHome });
    await engine.record('note.made', { text: 'Grüße' });
    await engine[Symbol.asyncDispose]();
    const refused = { code: 'STORAGE_READONLY', message: expect.stringContaining('read-only') as string };
    for (const file of ['journal.sqlite-shm', 'journal.sqlite-wal']) rmSync(path.join(stateHome, file), { force: true });
    disk.remount('ro');
    const read = (home: string) => {
      using reader = openReader(home);
      return [reader?.verify().ok, reader?.facts().filter(({ kind }) => kind === 'note.made').length];
    };
    expect(read(stateHome)).toEqual([true, 1]);
    await expect(lab.open({ stateHome })).rejects.toMatchObject(refused);
    expect(() => requestSignal(stateHome, { run: '', name: 'x', payload: 1 })).toThrow(expect.objectContaining(refused) as Error);

    disk.remount('rw');
    // As a killed engine leaves it: the last fact in the log alone.
    const second = await lab.open({ stateHome });
    await second.record('note.made', { text: 'in the log' });
    const left = path.join(disk.folder, 'left');
    cpSync(stateHome, left, { recursive: true });
    await second[Symbol.asyncDispose]();
    rmSync(path.join(left, 'journal.sqlite-shm'));
    expect(statSync(path.join(left, 'journal.sqlite-wal')).size).toBeGreaterThan(0);
    disk.remount('ro');
    expect(read(left)).toEqual([true, 2]);
    disk.remount('rw');
  },
);

test('P4 where the database may not grow (max_page_count) the engine stops cleanly although its reserve is gone', async () => {
  await using lab = makeLab();
  let database: DatabaseSync | undefined;
  const engine = await lab.open({ diskPatienceMs: 200 }, { database: (db) => (database = db) });
  const pages = Number(database?.prepare('PRAGMA page_count').get()?.['page_count']);
  database?.exec(`PRAGMA max_page_count = ${pages}`);
  await expect(engine.record('note.made', { text: 'x'.repeat(200_000) })).rejects.toMatchObject({ code: 'STORAGE_FULL' });
  await engine[Symbol.asyncDispose]();
  const second = await lab.open();
  await second.record('note.made', { text: 'x'.repeat(200_000) });
  expect(second.reader.verify()).toMatchObject({ ok: true });
});
