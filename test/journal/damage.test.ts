import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { type Gap, isGap, readAcross } from '../../src/journal/damage.ts';
import { openReader, requestSignal } from '../../src/journal/index.ts';
import { journalFile } from '../../src/journal/schema.ts';
import { type Lab, loop, makeLab, start } from './lab.ts';

/** A closed journal with 600 facts of some 300 bytes, all in the database file. */
const writeLong = async (lab: Lab): Promise<void> => {
  const engine = await lab.open();
  for (let index = 0; index < 600; index += 1) void engine.record('note.made', { index, text: 'ä'.repeat(100) });
  await engine.record('note.made', { last: true });
  await engine[Symbol.asyncDispose]();
};

/** Overwrites one page that holds facts in the middle of the table. */
const damagePage = (lab: Lab): void => {
  const file = journalFile(lab.stateHome);
  const bytes = readFileSync(file);
  const pageBytes = bytes.readUInt16BE(16);
  const pages = bytes.length / pageBytes;
  const leaves = Array.from({ length: pages }, (_, index) => index * pageBytes).filter(
    // A leaf of a table whose cells hold our text.
    (at) => at > 0 && bytes[at] === 0x0d && bytes.subarray(at, at + pageBytes).includes('note.made'),
  );
  const at = leaves[Math.floor(leaves.length / 2)];
  if (at === undefined) throw new Error('no page of facts');
  bytes.fill(0xa5, at, at + pageBytes);
  writeFileSync(file, bytes);
};

test('P4 a damaged page in the middle: facts before and after it are read and exported, and every answer says what is missing', async () => {
  await using lab = makeLab();
  await writeLong(lab);
  damagePage(lab);
  using reader = openReader(lab.stateHome);
  const report = reader?.verify();
  expect(report).toMatchObject({
    ok: false,
    why: expect.stringMatching(/^The facts from \d+ to \d+ cannot be read \(.*malformed.*\)\.$/) as string,
  });
  const facts = reader?.facts() ?? [];
  const gaps = facts.filter(({ kind }) => kind === 'facts.unreadable');
  expect(gaps).toHaveLength(1);
  const [gap] = gaps;
  if (gap === undefined) throw new Error('no gap');
  const { from, until } = gap.data as { from: number; until: number };
  expect(report).toMatchObject({ seq: from });
  expect(until - from).toBeLessThan(30);
  const kept = facts.filter(({ kind }) => kind !== 'facts.unreadable').map(({ seq }) => seq);
  expect(kept).toEqual(Array.from({ length: 603 }, (_, index) => index + 1).filter((seq) => seq < from || seq > until));
  const lines = [...(reader?.exportLines() ?? [])].map((line) => JSON.parse(line) as { seq: number; kind: string; data: unknown });
  expect(lines.map(({ seq }) => seq)).toEqual(facts.map(({ seq }) => seq));
  expect(lines.find(({ kind }) => kind === 'facts.unreadable')?.data).toEqual(gaps[0]?.data);
});

test('P4 facts are read across every pattern of damage: nothing readable is lost where damage is in one piece', () => {
  const read = (bad: (seq: number) => boolean, last: number): readonly (number | string)[] => {
    const page = (after: number, limit: number) => {
      const seqs = Array.from({ length: Math.max(0, Math.min(limit, last - after)) }, (_, index) => ({ seq: after + 1 + index }));
      if (seqs.some(({ seq }) => bad(seq))) throw new SyntaxError('damaged');
      return seqs;
    };
    const source = { page, lastSeq: () => last, isDamage: (error: unknown) => error instanceof SyntaxError };
    return [...readAcross(source, { afterSeq: 0, pageFacts: 10 })].map((item: { seq: number } | Gap) =>
      isGap(item) ? `${item.seq}-${item.until}` : item.seq,
    );
  };
  for (let from = 1; from <= 40; from += 1) {
    for (let until = from; until <= 40; until += 3) {
      const wanted = [...Array.from({ length: from - 1 }, (_, index) => index + 1), `${from}-${until}`];
      for (let seq = until + 1; seq <= 40; seq += 1) wanted.push(seq);
      expect(read((seq) => seq >= from && seq <= until, 40)).toEqual(wanted);
    }
  }
  const two = read((seq) => seq === 7 || seq === 23, 30);
  expect(two.filter((item) => typeof item === 'string')).toEqual(['7-7', '23-23']);
  expect(() => [
    ...readAcross(
      {
        page: () => {
          throw new RangeError('ours');
        },
        lastSeq: () => 1,
        isDamage: () => false,
      },
      { afterSeq: 0, pageFacts: 1 },
    ),
  ]).toThrow('ours');
});

test('P4 a fact whose text is no JSON any more, or no text, is a gap and not a failure', async () => {
  await using lab = makeLab();
  await writeLong(lab);
  const db = new DatabaseSync(journalFile(lab.stateHome));
  db.exec("DROP TRIGGER facts_never_change; UPDATE facts SET data = '{\"torn' WHERE seq = 5");
  db.close();
  using reader = openReader(lab.stateHome);
  expect(reader?.facts({ afterSeq: 3, limit: 3 }).map(({ seq, kind }) => [seq, kind])).toEqual([
    [4, 'note.made'],
    [5, 'facts.unreadable'],
    [6, 'note.made'],
  ]);
  expect(reader?.verify()).toMatchObject({ ok: false, seq: 5 });
  expect([...(reader?.exportLines() ?? [])]).toHaveLength(603);
});

/** A journal as a killed engine leaves it: the last facts in the log alone. */
const writeTorn = async (lab: Lab, cutBytes: number): Promise<number> => {
  let database: DatabaseSync | undefined;
  const engine = await lab.open({}, { database: (db) => (database = db) });
  database?.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  await engine.record('note.made', { text: 'kept' });
  await engine.record('note.made', { text: '你好'.repeat(200) });
  const file = journalFile(lab.stateHome);
  const copy = { db: readFileSync(file), wal: readFileSync(`${file}-wal`) };
  await engine[Symbol.asyncDispose]();
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, copy.db);
  writeFileSync(`${file}-wal`, copy.wal);
  truncateSync(`${file}-wal`, copy.wal.length - cutBytes);
  return copy.wal.indexOf('你好');
};

test('JRN-01 a log torn in the middle of a multi-byte letter: what was whole is read, and the next engine goes on behind it', async () => {
  await using lab = makeLab();
  const file = journalFile(lab.stateHome);
  // The first byte of a letter in the last frame stays, the other two and all behind it go.
  await writeTorn(lab, 0);
  const wal = readFileSync(`${file}-wal`);
  const letter = wal.lastIndexOf('你');
  expect(letter).toBeGreaterThan(0);
  truncateSync(`${file}-wal`, letter + 1);
  using before = openReader(lab.stateHome);
  expect(before?.verify()).toMatchObject({ ok: true });
  const kept = before?.facts().length ?? 0;
  const engine = await lab.open();
  const run = await (
    await engine.start(
      loop(async () => 'done'),
      null,
      start,
    )
  ).ended;
  expect(run.state).toBe('done');
  const facts = engine.reader.facts();
  expect(facts.filter(({ data }) => (data as { text?: string }).text === 'kept')).toHaveLength(1);
  expect(facts.filter(({ kind }) => kind === 'owner.taken')).toHaveLength(2);
  expect(facts.slice(kept).map(({ kind }) => kind)).toEqual(['owner.taken', 'run.started', 'run.ended']);
  expect(engine.reader.verify()).toMatchObject({ ok: true });
});

test('JRN-01 a log cut at any byte loses whole transactions from the end and never a part of one', async () => {
  await using lab = makeLab();
  await writeTorn(lab, 0);
  const file = journalFile(lab.stateHome);
  const database = readFileSync(file);
  const wal = readFileSync(`${file}-wal`);
  let last = 0;
  for (let length = 0; length <= wal.length; length += 997) {
    writeFileSync(file, database);
    writeFileSync(`${file}-wal`, wal.subarray(0, length));
    using reader = openReader(lab.stateHome);
    const report = reader?.verify();
    expect(report).toMatchObject({ ok: true });
    const facts = report?.ok === true ? report.facts : 0;
    expect(facts).toBeGreaterThanOrEqual(last);
    last = facts;
  }
});

test.each(['journal.sqlite', 'journal.sqlite-wal', 'journal.sqlite-shm', 'lock', 'reserve'])(
  'JRN-03 an empty %s: the engine starts, or says one clear sentence and leaves the files alone',
  async (name) => {
    await using lab = makeLab();
    const engine = await lab.open();
    await engine.record('note.made', { text: 'x' });
    await engine[Symbol.asyncDispose]();
    writeFileSync(path.join(lab.stateHome, name), '');
    const second = await lab.open();
    await second.record('note.made', { text: 'y' });
    expect(second.reader.verify()).toMatchObject({ ok: true });
    // An empty database without a log is no journal: there is nothing in it to lose, and nothing to go on with.
    const notes = second.reader.facts().filter(({ kind }) => kind === 'note.made');
    expect(notes).toHaveLength(name === 'journal.sqlite' ? 1 : 2);
    expect(existsSync(path.join(lab.stateHome, 'reserve'))).toBe(true);
  },
);

test('JRN-03 an empty journal beside a log that is not: one clear sentence for engine, reader and requests', async () => {
  await using lab = makeLab();
  await writeTorn(lab, 0);
  const file = journalFile(lab.stateHome);
  const wal = readFileSync(`${file}-wal`);
  writeFileSync(file, '');
  const corrupt = { code: 'JOURNAL_CORRUPT', message: expect.stringContaining('is empty although its log') as string };
  await expect(lab.open()).rejects.toMatchObject(corrupt);
  expect(() => openReader(lab.stateHome)).toThrow(expect.objectContaining(corrupt) as Error);
  expect(() => requestSignal(lab.stateHome, { run: '', name: 'x', payload: 1 })).toThrow(expect.objectContaining(corrupt) as Error);
  expect(readFileSync(`${file}-wal`).equals(wal)).toBe(true);
});
