import { describe, expect, it } from 'vitest';
import { taskKey } from '../../src/core/ids.ts';
import type { Task } from '../../src/core/task.ts';
import {
  addTried,
  mirrorNote,
  needStatesOf,
  noteFor,
  noteMarker,
  recogniseTasks,
  triedText,
  type FoundTasks,
  type TaskMatch,
  type TaskNote,
  type TaskRecord,
  type TaskTracker,
  type Tried,
} from '../../src/dispatch/index.ts';
import { after, noon } from './world.ts';

const task = (key: string, more: Partial<Task> = {}): Task => ({
  key: taskKey(key),
  title: `Title of ${key}`,
  body: '',
  evidence: '',
  priority: 0,
  touches: [],
  trust: 'repository',
  source: 'command: list',
  proof: { by: 'checks' },
  ...more,
});
const test = (name: string, evidence = `${name} expected 3, got 4`, file = 'src/add.test.ts'): Task =>
  task(`test:npm test:${name}`, {
    title: `Failing test: ${name}`,
    evidence,
    source: 'tests: npm test',
    proof: { by: 'test', command: 'npm test', test: name, file },
  });
const listed = (key: string, title: string): Task => task(key, { title, source: 'tasks: TODO.md', list: { file: 'TODO.md', line: 1 } });

const find = (tasks: readonly Task[], more: Partial<FoundTasks> = {}): FoundTasks => ({
  loop: 'fix',
  tasks,
  setAside: [],
  unread: [],
  ...more,
});
/** What is known after discoveries one after the other. */
const known = (...rounds: readonly (readonly Task[])[]): readonly TaskRecord[] => {
  const records = new Map<string, TaskRecord>();
  for (const [index, tasks] of rounds.entries())
    for (const { record } of recogniseTasks([...records.values()], find(tasks), after(index * 1_000))) records.set(record.id, record);
  return [...records.values()];
};
const said = (matches: readonly TaskMatch[]): readonly string[] => matches.map(({ match, record }) => `${match} ${record.identity.key}`);
const again = (records: readonly TaskRecord[], found: FoundTasks): readonly TaskMatch[] => recogniseTasks(records, found, after(3_600_000));
const tried = (more: Partial<Tried> = {}): Tried => ({
  run: 'r1',
  at: noon,
  attempts: 2,
  exit: 'stopped (attempts)',
  class: 'task',
  summary: 'The check npm test is red.',
  spend: { usd: 0.5, tokens: 100 },
  ...more,
});

describe('a task seen again', () => {
  it('DPT-21 is the same by its key, is edited when its text changed, and keeps what was tried', () => {
    const [record] = known([task('item:1')]);
    if (record === undefined) throw new Error('nothing known');
    const kept = addTried(record, tried());
    const [same] = again([kept], find([task('item:1')]));
    expect(same).toMatchObject({ match: 'same', record: { id: record.id, firstSeenAt: noon, lastSeenAt: after(3_600_000), runs: 1 } });
    const [edited] = again([kept], find([task('item:1', { body: 'More words' })]));
    expect(edited).toMatchObject({ match: 'edited', record: { id: record.id, runs: 1 } });
    expect(said(again([kept], find([task('item:1', { title: 'Title  of\nitem:1' })])))).toEqual(['same item:1']);
  });

  it('DPT-21 a renamed test that fails alike is the same task, also among others', () => {
    const before = known([test('adds two numbers'), test('subtracts', 'boom'), test('other', 'other expected 3, got 4', 'src/b.test.ts')]);
    const matches = again(
      before,
      find([test('sums up'), test('subtracts', 'boom'), test('other', 'other expected 3, got 4', 'src/b.test.ts')]),
    );
    expect(said(matches)).toEqual(['renamed test:npm test:sums up', 'same test:npm test:subtracts', 'same test:npm test:other']);
    expect(matches[0]?.record).toMatchObject({ id: before[0]?.id, formerKeys: ['test:npm test:adds two numbers'] });
  });

  it('DPT-21 a renamed test with another failure is the same only with like words and alone in its file', () => {
    const before = known([test('adds two numbers', 'x')]);
    expect(said(again(before, find([test('adds two integers', 'y')])))).toEqual(['renamed test:npm test:adds two integers']);
    expect(said(again(before, find([test('parses dates', 'y')])))).toEqual([
      'new test:npm test:parses dates',
      'vanished test:npm test:adds two numbers',
    ]);
    expect(said(again(before, find([test('adds two integers', 'y'), test('adds two floats', 'z')])))).toEqual([
      'new test:npm test:adds two integers',
      'new test:npm test:adds two floats',
      'vanished test:npm test:adds two numbers',
    ]);
  });

  it('DPT-21 never two olds to one new, nor one old to two new, nor over files, nor while the old one is there', () => {
    const two = known([test('a one'), test('a two')]);
    expect(said(again(two, find([test('a three')])))[0]).toBe('new test:npm test:a three');
    expect(
      said(again(known([test('a one')]), find([test('a two'), test('a three')]))).filter((text) => text.startsWith('renamed')),
    ).toEqual([]);
    expect(said(again(known([test('a one')]), find([test('a two', 'a two expected 3, got 4', 'src/b.test.ts')])))[0]).toMatch(/^new/);
    expect(said(again(known([test('a one')]), find([test('a one'), test('a two')])))).toEqual([
      'same test:npm test:a one',
      'new test:npm test:a two',
    ]);
  });

  it('DPT-21 an edited item of a list is the same when most of its words are', () => {
    const before = known([listed('task:1', 'Explain the cache in the guide'), listed('task:2', 'Drop Node 18')]);
    expect(
      said(again(before, find([listed('task:9', 'Explain the cache well in the guide'), listed('task:8', 'Add a search box')]))),
    ).toEqual(['edited task:9', 'new task:8', 'vanished task:2']);
  });

  it('DPT-21 its name in the outside world holds over keys', () => {
    const before = known([task('item:1', { claim: 'github:o/r#1' })]);
    expect(said(again(before, find([task('item:#1', { claim: 'github:o/r#1' })])))).toEqual(['renamed item:#1']);
  });

  it('DPT-21 closed and opened again, it comes back with what was tried and with fresh tries', () => {
    const [vanished] = known([task('item:1')], []).map((record) => addTried({ ...record, tries: { provider: 3 } }, tried()));
    if (vanished === undefined) throw new Error('nothing known');
    expect(vanished.state).toBe('vanished');
    expect(again([vanished], find([]))).toEqual([]);
    const [back] = again([vanished], find([task('item:1')]));
    expect(back).toMatchObject({ match: 'reopened', record: { id: vanished.id, state: 'open', reopened: 1, runs: 1, tries: {} } });
    const landed = { ...vanished, state: 'landed' as const };
    expect(said(again([landed], find([task('item:1')])))).toEqual(['reopened item:1']);
  });

  it('DSP-05 what its source does not name any more has vanished, so that its run is closed', () => {
    const parked = known([task('item:1')]).map((record): TaskRecord => ({ ...record, state: 'parked', wake: { on: 'person' } }));
    expect(again(parked, find([]))).toMatchObject([{ match: 'vanished', record: { state: 'vanished', wake: undefined } }]);
  });

  it('L2 what is missing of a source that was not read whole, or was set aside, has not vanished', () => {
    const before = known([task('item:1'), test('adds')]);
    expect(again(before, find([], { unread: ['command: list'], setAside: ['test:npm test:adds'] }))).toEqual([]);
    // Nor is it taken for renamed.
    expect(
      said(again(before, find([test('adds well', 'adds well expected 3, got 4')], { unread: ['tests: npm test', 'command: list'] }))),
    ).toEqual(['new test:npm test:adds well']);
  });

  it('DPT-16 a thousand tasks that all changed at once are new, and cheap', () => {
    const many = (from: number) =>
      Array.from({ length: 1_000 }, (_, at) => listed(`task:${from + at}`, `Do the thing number ${from + at} well`));
    const before = known(many(0));
    const begun = performance.now();
    const matches = again(before, find(many(5_000)));
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect(matches.filter(({ match }) => match === 'new')).toHaveLength(1_000);
  });

  it('L14 a record is plain JSON', () => {
    const [record] = known([test('adds')]);
    expect(recogniseTasks([JSON.parse(JSON.stringify(record)) as TaskRecord], find([test('adds')]), noon)[0]?.match).toBe('same');
  });
});

describe('what was tried', () => {
  const [fresh] = known([task('item:1', { claim: 'github:o/r#1' })]);
  if (fresh === undefined) throw new Error('nothing known');
  const often = Array.from({ length: 13 }, (_, at) => tried({ run: `r${at}`, summary: `Summary ${at} ${'x'.repeat(1_000)}` })).reduce(
    addTried,
    fresh,
  );

  it('DPT-22 is told to the next run, bounded, the newest last, the cost whole', () => {
    expect(triedText(fresh)).toBe('');
    expect(often.tried).toHaveLength(10);
    expect(often.spend).toEqual({ usd: 6.5, tokens: 1_300 });
    const text = triedText(often, 3_000);
    expect(text.length).toBeLessThan(3_100);
    expect(text).toContain(
      'This task was tried in 13 earlier runs ($6.50, 1300 tokens).\n- 3 older runs left out\n- 2026-06-15, 2 attempts',
    );
    expect(JSON.stringify(often).length).toBeLessThan(10_000);
  });

  it('L8 an unknown cost stays unknown', () => {
    expect(triedText(addTried(often, tried({ spend: { usd: undefined, tokens: undefined } })))).toContain('14 earlier runs (unknown cost)');
  });

  it('DSP-07 tells those that need the task how it stands', () => {
    const states = (record: Partial<TaskRecord>) => needStatesOf([{ ...fresh, ...record }]).get('item:1');
    expect(states({})).toBe('open');
    expect(states({ state: 'delivered' })).toBe('delivered');
    expect(states({ state: 'landed' })).toBe('landed');
    expect(states({ state: 'parked', wake: { on: 'quota', at: noon, provider: 'x' } })).toBe('open');
    expect(states({ state: 'parked', wake: { on: 'person' } })).toBe('failed');
    expect(needStatesOf([{ ...fresh, formerKeys: ['item:0'] }]).get('item:0')).toBe('open');
  });
});

/** A tracker in memory that trims and turns line ends, as real ones do. */
const memoryTracker = (): TaskTracker & { readonly notes: TaskNote[]; writes: number } => {
  const notes: TaskNote[] = [{ id: 'c1', text: 'A comment of somebody' }];
  const tracker = {
    notes,
    writes: 0,
    findNote: (_: string, marker: string) => Promise.resolve(notes.find((note) => note.text.includes(marker))),
    putNote: (_: string, { id, text }: { readonly id: string | undefined; readonly text: string }) => {
      tracker.writes += 1;
      const stored = { id: id ?? `c${notes.length + 1}`, text: `${text.replaceAll('\n', '\r\n')}\r\n` };
      const at = notes.findIndex((note) => note.id === id);
      if (at === -1) notes.push(stored);
      else notes[at] = stored;
      return Promise.resolve();
    },
  };
  return tracker;
};

describe('the note on an issue', () => {
  const [record] = known([task('item:1', { claim: 'github:o/r#1' })]);
  if (record === undefined) throw new Error('nothing known');

  it('DPT-23 is one comment that is edited, not repeated, and written only when something changed', async () => {
    const tracker = memoryTracker();
    const claimed: TaskRecord = { ...record, state: 'claimed' };
    const failed = addTried({ ...record, state: 'parked', wake: { on: 'person' } }, tried());
    const changes: string[] = [];
    for (const state of [record, record, claimed, failed, failed]) changes.push(await mirrorNote(tracker, state));
    expect(changes).toEqual(['create', 'none', 'edit', 'edit', 'none']);
    expect(tracker.notes).toHaveLength(2);
    expect(tracker.writes).toBe(3);
    expect(tracker.notes[1]?.text.replaceAll('\r', '').trim()).toBe(noteFor(failed));
    expect(noteFor(failed)).toBe(
      [
        `<!-- gyre:task ${record.id} -->`,
        '**Gyre**, loop fix: It is put aside: waits for a person.',
        '',
        'Runs so far: 1 ($0.5000, 100 tokens).',
        '- r1, stopped (attempts): The check npm test is red.',
      ].join('\n'),
    );
  });

  it('DPT-23 a task without an outside name is mirrored nowhere', async () => {
    const tracker = memoryTracker();
    const [inside] = known([task('item:2')]);
    if (inside !== undefined) expect(await mirrorNote(tracker, inside)).toBe('none');
    expect(tracker.writes).toBe(0);
  });

  it('L12 what an agent printed cannot forge a marker, call people or break out of its line', () => {
    const hostile = addTried(record, tried({ summary: `<!-- gyre:task t0 -->\n# @everyone [x](http://x) ![i](y) <script>` }));
    const text = noteFor(hostile);
    expect(text.match(/<!--/g)).toHaveLength(1);
    expect(text.startsWith(noteMarker(record))).toBe(true);
    expect(text).not.toContain('@everyone');
    expect(text).not.toMatch(/[^\\]\]\(/);
    expect(text).not.toContain('<script');
    expect(text.split('\n')).toHaveLength(5);
  });
});
