import { DatabaseSync } from 'node:sqlite';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runId } from '../../src/core/ids.ts';
import { openReader, requestSignal, requestStart, requestState } from '../../src/journal/index.ts';
import { journalFile } from '../../src/journal/schema.ts';
import { loop, makeLab, start } from './lab.ts';

const request = { handler: 'test-loop', version: 1, input: { task: 'ä' }, id: runId('asked'), dedupeKey: 'task:ä' };
const run = promisify(execFile);
const signalChild = fileURLToPath(new URL('signal-child.ts', import.meta.url));

test('P1 a start asked for with no engine and no journal is there for the next owner', async () => {
  await using lab = makeLab();
  expect(requestStart(lab.stateHome, { ...request, priority: 3, labels: { by: 'ci' } })).toEqual({ run: 'asked', existing: false });
  const engine = await lab.open();
  expect(engine.reader.run('asked')).toMatchObject({
    state: 'pending',
    loop: 'test-loop',
    input: { task: 'ä' },
    dedupeKey: 'task:ä',
    priority: 3,
    labels: { by: 'ci' },
    endedAt: undefined,
  });
});

test('P2 the same id or the dedupe key of an open run asks for nothing new', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  const ended = await (
    await engine.start(
      loop(async () => 'done'),
      null,
      { id: runId('ended'), dedupeKey: 'task:ä' },
    )
  ).ended;
  expect(ended.state).toBe('done');
  expect(requestStart(lab.stateHome, request)).toEqual({ run: 'asked', existing: false });
  expect(requestStart(lab.stateHome, request)).toEqual({ run: 'asked', existing: true });
  expect(requestStart(lab.stateHome, { ...request, id: runId('second') })).toEqual({ run: 'asked', existing: true });
  expect(requestStart(lab.stateHome, { ...request, id: runId('ended') })).toEqual({ run: 'ended', existing: true });
  expect(engine.reader.runs().map(({ id }) => id)).toEqual(['ended', 'asked']);
});

test('P2 a signal is stored once a dedupe key, in order, and only for a run that can still get it', async () => {
  await using lab = makeLab();
  expect(requestSignal(lab.stateHome, { run: 'r1', name: 'answer', payload: 1 })).toEqual({ accepted: false, duplicate: false });
  expect(openReader(lab.stateHome)).toBeUndefined();
  const engine = await lab.open();
  expect(requestSignal(lab.stateHome, { run: 'r1', name: 'answer', payload: 1 })).toEqual({ accepted: false, duplicate: false });
  const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
  const handle = await engine.start(
    loop(() => gate),
    null,
    start,
  );
  const ask = (payload: unknown, dedupeKey?: string) =>
    requestSignal(lab.stateHome, { run: 'r1', name: 'answer', payload, by: 'ann', ...(dedupeKey === undefined ? {} : { dedupeKey }) });
  expect([ask(1), ask('Grüße', 'k'), ask('other', 'k'), ask(undefined)]).toEqual([
    { accepted: true, duplicate: false },
    { accepted: true, duplicate: false },
    { accepted: true, duplicate: true },
    { accepted: true, duplicate: false },
  ]);
  expect(engine.reader.signals('r1').map(({ name, payload, by, takenBy }) => [name, payload, by, takenBy])).toEqual([
    ['answer', 1, 'ann', undefined],
    ['answer', 'Grüße', 'ann', undefined],
    ['answer', undefined, 'ann', undefined],
  ]);
  openGate();
  await handle.ended;
  expect(ask(2)).toMatchObject({ accepted: false });
});

test('P2 the engine takes each of its own signals exactly once, oldest first, and the fact keeps what it took', async () => {
  await using lab = makeLab();
  const give = (payload: unknown, dedupeKey?: string, name = 'note') =>
    requestSignal(lab.stateHome, { run: '', name, payload, ...(dedupeKey === undefined ? {} : { dedupeKey }) });
  expect(give('before any engine')).toEqual({ accepted: true, duplicate: false });
  const first = await lab.open();
  give(2, 'two');
  give('other', undefined, 'else');
  expect((await first.takeSignals('note')).map(({ payload, by }) => [payload, by])).toEqual([
    ['before any engine', ''],
    [2, ''],
  ]);
  expect(await first.takeSignals('note')).toEqual([]);
  expect(give(2, 'two')).toEqual({ accepted: true, duplicate: true });
  await first[Symbol.asyncDispose]();
  const second = await lab.open();
  expect(await second.takeSignals('note')).toEqual([]);
  expect((await second.takeSignals('else')).map(({ payload }) => payload)).toEqual(['other']);
  const taken = second.reader.facts().filter(({ kind }) => kind === 'signal.taken');
  expect(taken.map(({ data }) => (data as { payload: unknown }).payload)).toEqual(['before any engine', 2, 'other']);
});

test(
  'JRN-11 two processes that give 50 signals each while the engine runs lose none, and order is by sequence',
  { timeout: 60_000 },
  async () => {
    await using lab = makeLab();
    const engine = await lab.open();
    const over = new AbortController();
    const taken: { payload: unknown }[] = [];
    const taking = (async () => {
      while (!over.signal.aborted) {
        taken.push(...(await engine.takeSignals('note')));
        await engine.record('note.made', { seen: taken.length });
      }
      taken.push(...(await engine.takeSignals('note')));
    })();
    await Promise.all(['one', 'two'].map((who) => run(process.execPath, [signalChild, lab.stateHome, who, '50'])));
    over.abort();
    await taking;
    const texts = taken.map(({ payload }) => String(payload));
    expect(new Set(texts).size).toBe(100);
    expect(texts).toHaveLength(100);
    for (const who of ['one', 'two']) {
      expect(texts.filter((text) => text.startsWith(who))).toEqual(Array.from({ length: 50 }, (_, index) => `${who} ${index} ä`));
    }
    const seqs = engine.reader.facts().flatMap(({ kind, data }) => (kind === 'signal.taken' ? [(data as { signal: number }).signal] : []));
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    expect(engine.reader.verify()).toMatchObject({ ok: true });
  },
);

test('P2 pause and resume are asked once in a row, and only of an open run', async () => {
  await using lab = makeLab();
  expect(requestState(lab.stateHome, 'r1', 'pause', 'x')).toBe(false);
  requestStart(lab.stateHome, request);
  for (const want of ['pause', 'pause', 'resume', 'pause'] as const) {
    expect(requestState(lab.stateHome, 'asked', want, 'y'.repeat(2_000))).toBe(true);
  }
  expect(requestState(lab.stateHome, 'nobody', 'pause', 'x')).toBe(false);
  const db = new DatabaseSync(journalFile(lab.stateHome), { readOnly: true });
  const rows = db.prepare('SELECT run, want, length(reason) AS letters FROM state_requests ORDER BY seq').all();
  db.close();
  expect(rows.map((row) => [row['run'], row['want'], row['letters']])).toEqual([
    ['asked', 'pause', 1_000],
    ['asked', 'resume', 1_000],
    ['asked', 'pause', 1_000],
  ]);
});

test('P10 a request to a journal of a newer release, or to one an older release holds, is refused with a sentence', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  const db = new DatabaseSync(journalFile(lab.stateHome));
  db.exec("UPDATE meta SET value = '99' WHERE key = 'schema'");
  expect(() => requestStart(lab.stateHome, request)).toThrow(expect.objectContaining({ code: 'JOURNAL_TOO_NEW' }) as Error);
  db.exec("UPDATE meta SET value = '1' WHERE key = 'schema'");
  db.close();
  expect(() => requestSignal(lab.stateHome, { run: '', name: 'x', payload: 1 })).toThrow(
    expect.objectContaining({ code: 'JOURNAL_OLD' }) as Error,
  );
  await engine[Symbol.asyncDispose]();
});
