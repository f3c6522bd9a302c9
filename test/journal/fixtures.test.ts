// Journals as older code wrote them, each ended by SIGKILL. A file is never changed; a new schema gets a new one.
//
// Each holds ended runs (`done`, `failed`, `reopened` in its second generation, `cancelled`) and open ones: `open`, `sleeping` (its time is
// over), `intended` (a step without an outcome), `cancel-asked`. From schema 2 on also `waiting`, `paused`, `asked` by another process, a
// register, a stream and a signal.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openReader } from '../../src/journal/index.ts';
import { journalFile, newestSchema } from '../../src/journal/schema.ts';
import { type Lab, loop, makeLab, until } from './lab.ts';

const folder = fileURLToPath(new URL('fixtures/', import.meta.url));
const fixtures = readdirSync(folder).toSorted();

const unpack = (lab: Lab, name: string): void => {
  mkdirSync(lab.stateHome, { recursive: true });
  writeFileSync(journalFile(lab.stateHome), gunzipSync(readFileSync(`${folder}${name}`)));
};

/** What is recorded as done, as text, so that a changed byte shows. */
const outcomes = (lab: Lab): readonly string[] => {
  const db = new DatabaseSync(journalFile(lab.stateHome));
  const steps = db
    .prepare("SELECT run, key, kind, state, performed, outcome, error FROM steps WHERE state <> 'intended' ORDER BY run, key")
    .all();
  const ended = db
    .prepare('SELECT id, state, generation, input, output, error, ended_at FROM runs WHERE ended_at IS NOT NULL ORDER BY id')
    .all();
  db.close();
  return [...steps, ...ended].map((row) => JSON.stringify(row));
};

const exported = (lab: Lab): readonly string[] => {
  using reader = openReader(lab.stateHome);
  return [...(reader?.exportLines() ?? [])];
};

test('P10 there is a journal of every schema before the newest one', () => {
  const schemas = fixtures.map((name) => Number(/^schema-(\d+)\.sqlite\.gz$/.exec(name)?.[1]));
  for (let schema = 1; schema < newestSchema; schema += 1) expect(schemas).toContain(schema);
});

test.each(fixtures)('P10 %s is read as it is, without being changed', async (name) => {
  await using lab = makeLab();
  unpack(lab, name);
  const before = readFileSync(journalFile(lab.stateHome));
  using reader = openReader(lab.stateHome);
  expect(reader?.verify()).toMatchObject({ ok: true });
  expect(reader?.runs().length).toBeGreaterThanOrEqual(8);
  expect(reader?.run('done')).toMatchObject({ state: 'done', output: { a: { a: 1, b: 'Grüße' }, r: 0.25 }, view: { title: 'A done run' } });
  expect(reader?.run('failed')).toMatchObject({ state: 'failed', error: { code: 'TOOL_SAID_NO' } });
  expect(reader?.run('reopened')).toMatchObject({ generation: 2, output: 'from generation 2' });
  expect(reader?.owner()).toMatchObject({ epoch: 1, alive: false });
  expect(reader?.health().schema).toBe(Number(/\d+/.exec(name)?.[0]));
  expect(reader?.register('pool').map(({ key }) => key)).toEqual(name === 'schema-1.sqlite.gz' ? [] : ['slot']);
  expect(readFileSync(journalFile(lab.stateHome)).equals(before)).toBe(true);
});

test.each(fixtures)('P10 the open runs of %s are brought to their end, and every recorded outcome is kept', async (name) => {
  await using lab = makeLab();
  unpack(lab, name);
  const recorded = outcomes(lab);
  const lines = exported(lab);
  const engine = await lab.open();
  const performed: string[] = [];
  const handler = loop(async (ctx) => {
    const { id } = ctx.run;
    const perform = (key: string) =>
      ctx.step(key, {}, async () => {
        performed.push(`${id}/${key}`);
        return 'performed now';
      });
    const first = await perform('a');
    if (id === 'sleeping') await ctx.sleep('nap', 3_600_000);
    if (id === 'intended') await perform('unknown');
    if (id === 'waiting') return (await ctx.waitFor('approval', { signal: 'approve' })).kind;
    if (id === 'paused') await perform('b');
    // Refused, because the run is to be cancelled.
    if (id === 'cancel-asked') await perform('never');
    return first;
  }, 'fixture');
  const open = engine.reader.runs().filter(({ endedAt }) => endedAt === undefined);
  const handles = await engine.serve([handler]);
  if (name !== 'schema-1.sqlite.gz') {
    await engine.signal('waiting', 'approve', true);
    expect(engine.reader.run('paused')?.state).toBe('paused');
    await engine.resume('paused');
  }
  await Promise.all(handles.map((handle) => handle.ended));
  await until('the resumed run has ended', () => engine.reader.runs().every(({ endedAt }) => endedAt !== undefined));
  const ended = open.flatMap(({ id }) => engine.reader.run(id) ?? []);
  expect(ended.length).toBeGreaterThanOrEqual(4);
  const ends: Record<string, unknown> = {
    open: ['done', 'first'],
    sleeping: ['done', 'before the nap'],
    intended: ['done', 'first'],
    waiting: ['done', 'signal'],
    paused: ['done', 'first'],
    asked: ['done', 'performed now'],
    'cancel-asked': ['cancelled', undefined],
  };
  for (const { id, state, output } of ended) expect([id, state, output]).toEqual([id, ...(ends[id] as unknown[])]);
  const expected = ['asked/a', 'intended/unknown', 'paused/b'];
  expect(performed.toSorted()).toEqual(expected.filter((place) => open.some(({ id }) => id === place.split('/')[0])));
  expect(engine.reader.verify()).toMatchObject({ ok: true });
  expect(exported(lab).slice(0, lines.length)).toEqual(lines);
  const now = outcomes(lab);
  expect(recorded.filter((row) => !now.includes(row))).toEqual([]);
});
