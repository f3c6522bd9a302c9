import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { epochMs } from '../../src/core/ids.ts';
import { openReader } from '../../src/journal/index.ts';
import { beginAppending, type Transaction } from '../../src/journal/append.ts';
import { migrate } from '../../src/journal/schema.ts';
import { readStream, trimStreams, writeEvent } from '../../src/journal/streams.ts';
import { loop, makeLab, start } from './lab.ts';

test('L14 events of a run are read per stream, in order, from a place on, and stand outside the chain', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  const handler = loop(async (ctx) => {
    for (let index = 0; index < 3; index += 1) ctx.emit('progress', { index, text: 'Grüße' });
    ctx.emit('other', undefined);
    await ctx.step('work', {}, async () => ctx.emit('progress', 'from inside a step'));
  });
  await (
    await engine.start(handler, null, start)
  ).ended;
  using reader = openReader(lab.stateHome);
  const events = reader?.stream('r1', 'progress') ?? [];
  expect(events.map(({ event }) => event)).toEqual([...[0, 1, 2].map((index) => ({ index, text: 'Grüße' })), 'from inside a step']);
  expect(reader?.stream('r1', 'progress', events[1]?.seq).map(({ event }) => event)).toEqual([
    { index: 2, text: 'Grüße' },
    'from inside a step',
  ]);
  expect(reader?.stream('r1', 'other').map(({ event }) => event)).toEqual([null]);
  expect(reader?.stream('nobody', 'progress')).toEqual([]);
  expect(reader?.facts().some(({ data }) => JSON.stringify(data).includes('Grüße'))).toBe(false);
});

test(
  'L9 a run that emits without end keeps a bounded stream: the oldest go first and a note says how many',
  { timeout: 60_000 },
  async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const total = 23_000;
    const handler = loop(async (ctx) => {
      for (let index = 0; index < total; index += 1) {
        ctx.emit('flood', index);
        if (index === total / 2) await ctx.step('half', {}, async () => null);
      }
    });
    await (
      await engine.start(handler, null, start)
    ).ended;
    const kept: number[] = [];
    let dropped = 0;
    for (let after = 0; ;) {
      const page = engine.reader.stream('r1', 'flood', after);
      if (page.length === 0) break;
      for (const { event } of page) {
        if (typeof event === 'number') kept.push(event);
        else dropped += (event as { $dropped: number }).$dropped;
      }
      after = page.at(-1)?.seq ?? 0;
    }
    expect(dropped + kept.length).toBe(total);
    expect(dropped).toBeGreaterThan(0);
    expect(kept.length).toBeLessThanOrEqual(10_500);
    expect(kept.at(-1)).toBe(total - 1);
    expect(kept.every((value, index) => index === 0 || value > (kept[index - 1] ?? 0))).toBe(true);
  },
);

test('L9 trimming keeps within events and bytes, per run, with one note a stream in the place of the last one gone', () => {
  const db = new DatabaseSync(':memory:');
  migrate(db, 0);
  const base = {
    get: (sql: string, ...values: readonly (string | number)[]) => db.prepare(sql).get(...values),
    all: (sql: string, ...values: readonly (string | number)[]) => db.prepare(sql).all(...values),
    run: (sql: string, ...values: readonly (string | number)[]) => void db.prepare(sql).run(...values),
  } as Parameters<typeof beginAppending>[0];
  const transaction: Transaction = beginAppending(base, epochMs(5)).transaction;
  const emit = (run: string, stream: string, event: unknown) => writeEvent(transaction, { run, stream, event: JSON.stringify(event) });
  const read = (run: string, stream: string) => readStream(transaction, { run, stream, afterSeq: 0 }).map(({ event }) => event);
  emit('other', 'a', 'stays');
  for (let index = 0; index < 9; index += 1) emit('r', index % 2 === 0 ? 'a' : 'b', index);
  trimStreams(transaction, 'r', { eventsMax: 9, bytesMax: 1_000 });
  expect(read('r', 'a')).toEqual([0, 2, 4, 6, 8]);
  trimStreams(transaction, 'r', { eventsMax: 8, bytesMax: 1_000 });
  expect([read('r', 'a'), read('r', 'b'), read('other', 'a')]).toEqual([[{ $dropped: 2 }, 4, 6, 8], [{ $dropped: 1 }, 3, 5, 7], ['stays']]);
  trimStreams(transaction, 'r', { eventsMax: 4, bytesMax: 1_000 });
  expect([read('r', 'a'), read('r', 'b')]).toEqual([
    [{ $dropped: 3 }, 6, 8],
    [{ $dropped: 3 }, 7],
  ]);
  // Two notes of 14 bytes, three digits, and this of 52: 83 bytes, to be brought down to three quarters of 72.
  emit('r', 'b', 'x'.repeat(50));
  trimStreams(transaction, 'r', { eventsMax: 100, bytesMax: 72 });
  expect([read('r', 'a'), read('r', 'b')]).toEqual([
    [{ $dropped: 4 }, 8],
    [{ $dropped: 3 }, 7, 'x'.repeat(50)],
  ]);
  db.close();
});

test('L9 an event over 64 KiB, and more than 100 streams, are refused where they are emitted', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  const handler = loop(async (ctx) => {
    let code: unknown;
    try {
      ctx.emit('s', 'x'.repeat(70_000));
    } catch (error) {
      code = (error as { code: unknown }).code;
    }
    for (let index = 0; index < 101; index += 1) ctx.emit(`s${index}`, code);
  });
  const run = await (await engine.start(handler, null, start)).ended;
  expect(run).toMatchObject({ state: 'failed', error: { code: 'DEFECT', message: 'Run r1 has more than 100 streams.' } });
  expect(engine.reader.stream('r1', 's0').map(({ event }) => event)).toEqual(['PAYLOAD_TOO_LARGE']);
});
