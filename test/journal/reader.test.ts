import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '../../src/journal/chain.ts';
import { openReader, requestCancel } from '../../src/journal/index.ts';
import { journalFile } from '../../src/journal/schema.ts';
import { type Lab, loop, makeLab, start } from './lab.ts';

/** A journal with one ended run and some facts of no run, closed. */
const writeJournal = async (lab: Lab): Promise<void> => {
  const engine = await lab.open();
  await (
    await engine.start(
      loop((ctx) => ctx.step('a', {}, async () => ({ b: 'Grüße', a: 1 }))),
      { z: 1, ä: null },
      start,
    )
  ).ended;
  for (let index = 0; index < 5; index += 1) await engine.record('note.made', { index });
  await engine[Symbol.asyncDispose]();
};

/** Changes the file past the triggers, as a stranger would. */
const tamper = (lab: Lab, sql: string): void => {
  const db = new DatabaseSync(journalFile(lab.stateHome));
  db.exec(`DROP TRIGGER facts_never_change; DROP TRIGGER facts_never_go; DROP TRIGGER facts_in_order; ${sql}`);
  db.close();
};

test('L14 every line of the export proves itself and names the one before', async () => {
  await using lab = makeLab();
  await writeJournal(lab);
  using reader = openReader(lab.stateHome);
  const lines = [...(reader?.exportLines() ?? [])];
  let prev = '0'.repeat(64);
  for (const [index, line] of lines.entries()) {
    const { hash, ...rest } = JSON.parse(line) as { hash: string; seq: number; prev: string };
    // Written from the documentation alone: the canonical JSON of the line without its hash.
    expect(createHash('sha256').update(canonicalJson(rest)).digest('hex')).toBe(hash);
    expect(rest).toMatchObject({ seq: index + 1, prev });
    prev = hash;
  }
  expect(lines).toHaveLength(11);
  expect(reader?.verify()).toEqual({ ok: true, facts: 11 });
});

test.each([
  ['an edited fact', "UPDATE facts SET data = replace(data, '1', '2') WHERE seq = 7", 7, 'was changed'],
  ['an edited time', 'UPDATE facts SET at = at + 1 WHERE seq = 1', 1, 'was changed'],
  ['a removed fact', 'DELETE FROM facts WHERE seq = 5', 5, 'is missing'],
  ['the first facts removed', 'DELETE FROM facts WHERE seq < 4', 1, 'is missing'],
  ['a cut end', 'DELETE FROM facts WHERE seq > 8', 9, 'cut off the end'],
  ['all facts removed', 'DELETE FROM facts', 1, 'cut off the end'],
  ['a fact put at the end', 'INSERT INTO facts SELECT 12, at, kind, run, data, hash, hash FROM facts WHERE seq = 11', 12, 'was changed'],
])('L5 the chain shows %s', async (_what, sql, seq, why) => {
  await using lab = makeLab();
  await writeJournal(lab);
  tamper(lab, sql);
  using reader = openReader(lab.stateHome);
  expect(reader?.verify()).toEqual({ ok: false, seq, why: expect.stringContaining(why) as string });
});

test('L5 the database itself refuses to change or remove a fact', async () => {
  await using lab = makeLab();
  await writeJournal(lab);
  const db = new DatabaseSync(journalFile(lab.stateHome));
  for (const sql of [
    "UPDATE facts SET data = '{}' WHERE seq = 1",
    'DELETE FROM facts WHERE seq = 1',
    'REPLACE INTO facts SELECT * FROM facts WHERE seq = 1',
    'INSERT INTO facts SELECT 100, at, kind, run, data, prev, hash FROM facts WHERE seq = 1',
  ]) {
    expect(() => db.exec(sql), sql).toThrow('append-only');
  }
  db.close();
});

test('JNL-22 a journal of a newer release is refused with a clear sentence, by engine, reader and cancel', async () => {
  await using lab = makeLab();
  await writeJournal(lab);
  const db = new DatabaseSync(journalFile(lab.stateHome));
  db.exec("UPDATE meta SET value = '99' WHERE key = 'schema'");
  db.close();
  const tooNew = { code: 'JOURNAL_TOO_NEW', message: expect.stringContaining('has schema 99; this Gyre knows schemas up to 2') as string };
  await expect(lab.open()).rejects.toMatchObject(tooNew);
  expect(() => openReader(lab.stateHome)).toThrow(expect.objectContaining(tooNew) as Error);
  expect(() => requestCancel(lab.stateHome, start.id, 'x')).toThrow(expect.objectContaining(tooNew) as Error);
});

test('JNL-23 a damaged file gives one clear fault, and the engine leaves it as it is', async () => {
  await using lab = makeLab();
  await writeJournal(lab);
  const file = journalFile(lab.stateHome);
  const damaged = Buffer.from(readFileSync(file));
  damaged.fill(0xa5, 0, 4096);
  writeFileSync(file, damaged);
  const corrupt = { code: 'JOURNAL_CORRUPT', message: expect.stringContaining(file) as string };
  expect(() => openReader(lab.stateHome)).toThrow(expect.objectContaining(corrupt) as Error);
  await expect(lab.open()).rejects.toMatchObject(corrupt);
  expect(readFileSync(file).equals(damaged)).toBe(true);
  // Damage further in is found by the first read that meets it.
  damaged.fill(0xa5);
  writeFileSync(file, damaged.subarray(0, 5_000));
  expect(() => openReader(lab.stateHome)).toThrow(expect.objectContaining({ code: 'JOURNAL_CORRUPT' }) as Error);
});

test('JNL-24 no journal, no reader and no run to cancel', async () => {
  await using lab = makeLab();
  expect(openReader(lab.stateHome)).toBeUndefined();
  expect(requestCancel(lab.stateHome, start.id, 'x')).toBe(false);
});

test('JNL-25 the reader filters runs and pages facts beside a running engine', async () => {
  await using lab = makeLab();
  const engine = await lab.open();
  using reader = openReader(lab.stateHome);
  const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
  const handle = await engine.start(
    loop(() => gate),
    null,
    start,
  );
  expect(reader?.runs({ states: ['running'] }).map((run) => run.id)).toEqual(['r1']);
  openGate();
  await handle.ended;
  expect(reader?.runs({ states: ['running', 'pending'] })).toEqual([]);
  expect(reader?.runs({ states: ['done'], dedupeKey: 'task-1' })).toHaveLength(1);
  expect(reader?.runs({ dedupeKey: 'other' })).toEqual([]);
  expect(reader?.run('r1')?.endedAt).toBeTypeOf('number');
  expect(reader?.run('nobody')).toBeUndefined();
  expect(reader?.facts({ afterSeq: 1, limit: 1 }).map((fact) => [fact.seq, fact.kind])).toEqual([[2, 'run.started']]);
});

test('L5 canonical JSON does not depend on the order of keys and reads back as the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const parsed: unknown = JSON.parse(JSON.stringify(value));
      const text = canonicalJson(parsed);
      expect(JSON.parse(text)).toEqual(parsed);
      const reversed = (item: unknown): unknown => {
        if (Array.isArray(item)) return item.map((inner: unknown) => reversed(inner));
        if (typeof item !== 'object' || item === null) return item;
        return Object.fromEntries(
          Object.entries(item)
            .toReversed()
            .map(([key, inner]) => [key, reversed(inner)]),
        );
      };
      expect(canonicalJson(reversed(parsed))).toBe(text);
    }),
  );
});
