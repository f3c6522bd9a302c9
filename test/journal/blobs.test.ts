import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { epochMs, runId } from '../../src/core/ids.ts';
import { openReader, requestSignal, requestStart } from '../../src/journal/index.ts';
import { type BlobReference, createBlobs } from '../../src/journal/blobs.ts';
import { createReader } from '../../src/journal/reader.ts';
import { journalFile } from '../../src/journal/schema.ts';
import { type Lab, loop, makeLab, start } from './lab.ts';

const large = `${'ä'.repeat(200_000)}.`;
const digest = createHash('sha256').update(JSON.stringify(large)).digest('hex');
const blobFile = (lab: Lab): string => path.join(lab.stateHome, 'blobs', digest.slice(0, 2), digest);
const blobFiles = (lab: Lab): readonly string[] =>
  existsSync(path.join(lab.stateHome, 'blobs'))
    ? readdirSync(path.join(lab.stateHome, 'blobs'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
    : [];

test('L14 a payload over 256 KiB lies in a file named by its SHA-256, the journal holds digest and size, and everybody reads it whole', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  const seen: unknown[] = [];
  const handler = loop(async (ctx, input) => {
    seen.push(input, await ctx.step('large', {}, async () => large));
    return large;
  });
  const ended = await (await engine.start(handler, { large }, start)).ended;
  expect(ended.output).toBe(large);
  expect(seen).toEqual([{ large }, large]);
  expect(readFileSync(blobFile(lab), 'utf8')).toBe(JSON.stringify(large));
  expect(blobFiles(lab)).toHaveLength(2);
  using reader = openReader(lab.stateHome);
  expect(reader?.run('r1')).toMatchObject({ input: { large }, output: large });
  const completed = reader?.facts().find(({ kind }) => kind === 'step.completed');
  expect(completed?.data).toMatchObject({ outcome: { $blob: digest, bytes: 400_003 } });
  expect(reader?.verify()).toMatchObject({ ok: true });
});

test('L14 a list of runs reads no blob, and a run that is looked at reads each of its own once', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  const handler = loop(async () => large);
  await (
    await engine.start(handler, { large }, start)
  ).ended;
  const reads: string[] = [];
  const blobs = createBlobs(lab.stateHome);
  const counting = {
    ...blobs,
    read: (reference: BlobReference) => {
      reads.push(reference.$blob);
      return blobs.read(reference);
    },
  };
  const db = new DatabaseSync(journalFile(lab.stateHome), { readOnly: true });
  using reader = createReader(db, { file: 'journal', blobs: counting, close: () => db.close() });
  const [row] = reader.runs();
  expect([row?.id, row?.state]).toEqual(['r1', 'done']);
  expect(reads).toEqual([]);
  expect([row?.input, row?.output, row?.input, row?.output]).toEqual([{ large }, large, { large }, large]);
  expect(reads).toHaveLength(2);
});

test('P2 a recorded outcome in a blob is given back by the next engine, and the step not performed again', async () => {
  await using lab = makeLab();
  let performed = 0;
  const first = await lab.open();
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const never = loop(async (ctx) => {
    await ctx.step('large', {}, async () => large);
    resolve();
    await new Promise(() => {});
  });
  await first.start(never, null, start);
  await reached;
  await first[Symbol.asyncDispose]();
  const second = await lab.open();
  const handler = loop((ctx) =>
    ctx.step('large', {}, async () => {
      performed += 1;
      return 'other';
    }),
  );
  const [resumed] = await second.recover([handler]);
  expect((await resumed?.ended)?.output).toBe(large);
  expect(performed).toBe(0);
});

test('L12 a value that looks like a reference to a blob stays that value', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  const look = { $blob: digest, bytes: 3 };
  const ended = await (
    await engine.start(
      loop((ctx) => ctx.step('look', {}, async () => look)),
      look,
      start,
    )
  ).ended;
  expect(ended.output).toEqual(look);
  expect(engine.reader.run('r1')).toMatchObject({ input: look, output: look });
});

test('P1 large payloads of requests come through: input of a pending run, payload of a signal', async () => {
  await using lab = makeLab();
  requestStart(lab.stateHome, { handler: 'test-loop', version: 1, input: large, id: runId('asked'), dedupeKey: 'x' });
  requestSignal(lab.stateHome, { run: '', name: 'note', payload: large });
  const engine = await lab.open();
  expect((await engine.takeSignals('note')).map(({ payload }) => payload)).toEqual([large]);
  const [handle] = await engine.serve([loop(async (_ctx, input) => (input as string).length)]);
  expect((await handle?.ended)?.output).toBe(200_001);
});

test.each([
  ['missing', 'BLOB_MISSING', (file: string) => rmSync(file)],
  ['changed', 'BLOB_CHANGED', (file: string) => writeFileSync(file, '"other"')],
])('L2 a blob that is %s is one clear fault, never a wrong value, and hides no other run', async (_what, code, spoil) => {
  await using lab = makeLab();
  const engine = await lab.open();
  await (
    await engine.start(
      loop(async () => large),
      null,
      start,
    )
  ).ended;
  await (
    await engine.start(
      loop(async () => 'small'),
      null,
      { id: runId('r2'), dedupeKey: 't2' },
    )
  ).ended;
  spoil(blobFile(lab));
  using reader = openReader(lab.stateHome);
  const runs = reader?.runs() ?? [];
  expect(runs.map(({ id, state }) => [id, state])).toEqual([
    ['r1', 'done'],
    ['r2', 'done'],
  ]);
  expect(() => runs[0]?.output).toThrow(expect.objectContaining({ code, message: expect.stringContaining(digest) as string }) as Error);
  expect(runs[1]?.output).toBe('small');
});

test('L9 a payload over 64 MiB is refused with what to do', { timeout: 30_000 }, async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  const run = await (
    await engine.start(
      loop((ctx) => ctx.step('huge', {}, async () => 'x'.repeat(64 * 1024 * 1024))),
      null,
      start,
    )
  ).ended;
  expect(run).toMatchObject({ state: 'failed', error: { code: 'PAYLOAD_TOO_LARGE' } });
  expect(blobFiles(lab)).toEqual([]);
});

test('L14 purging takes steps, streams, signals and blobs of runs that ended, and leaves facts, rows and everything else', async () => {
  await using lab = makeLab();
  const day = 86_400_000;
  let now = Date.now();
  const engine = await lab.open({ clock: () => epochMs(now) });
  const work = loop(async (ctx) => {
    ctx.emit('progress', 'Grüße');
    await ctx.step('large', {}, async () => large);
    return large;
  });
  const fails = loop(async (ctx) => {
    await ctx.step('kept', {}, async () => 'kept');
    throw new Error('no');
  });
  await (
    await engine.start(work, null, start)
  ).ended;
  await (
    await engine.start(fails, null, { id: runId('bad'), dedupeKey: 'bad' })
  ).ended;
  const open = await engine.start(
    loop((ctx) => ctx.sleep('long', 60 * day)),
    null,
    { id: runId('open'), dedupeKey: 'open' },
  );
  await engine.signal('open', 'later', 1);
  await engine.put([{ register: 'r', key: 'gone', value: 1 }]);
  await engine.put([{ register: 'r', key: 'gone', value: undefined }]);
  requestSignal(lab.stateHome, { run: '', name: 'n', payload: 1, dedupeKey: 'd' });
  await engine.takeSignals('n');
  writeFileSync(path.join(path.dirname(blobFile(lab)), 'left.part'), 'x');
  for (const name of [blobFile(lab), path.join(path.dirname(blobFile(lab)), 'left.part')]) utimesSync(name, now / 1_000, now / 1_000);
  const facts = engine.reader.facts();

  expect(await engine.purge({ before: epochMs(now - day) })).toEqual({ runs: 0, bytes: 0 });
  now += 2 * day;
  const purged = await engine.purge({ before: epochMs(now - day), keep: ['failed'] });
  expect(purged.runs).toBe(1);
  expect(purged.bytes).toBeGreaterThan(400_000);
  expect(blobFiles(lab)).toEqual([]);
  expect(engine.reader.run('r1')).toMatchObject({ state: 'done', purgedAt: now, output: undefined });
  expect(engine.reader.run('bad')).toMatchObject({ state: 'failed', purgedAt: undefined });
  expect(engine.reader.stream('r1', 'progress')).toEqual([]);
  expect(engine.reader.signals('open')).toHaveLength(1);
  expect(engine.reader.signals('')).toEqual([]);
  expect(engine.reader.facts().slice(0, facts.length)).toEqual(facts);
  expect(engine.reader.facts().at(-1)).toMatchObject({ kind: 'run.purged', run: 'r1' });
  expect(engine.reader.verify()).toMatchObject({ ok: true });
  await expect(engine.reopen(work, runId('r1'), null)).rejects.toMatchObject({ code: 'RUN_PURGED' });
  expect(await engine.purge({ before: epochMs(now - day), keep: ['failed'] })).toEqual({ runs: 0, bytes: 0 });
  await engine.reopen(fails, runId('bad'), null).then((handle) => handle.ended);
  expect(engine.reader.run('open')).toMatchObject({ endedAt: undefined });
  open.ended.catch(() => {});
});
