// What is remembered of the tasks of a loop: recognised when they are seen again, told to the next run, closed when their source does not
// name them any more. Records stand in a register of the journal; who is who is decided in dispatch/.
import type { EpochMs } from '../core/ids.ts';
import { exitText } from '../core/exit.ts';
import { addTried, classifyFailure, recogniseTasks, type TaskMatch, type TaskRecord, triedText, type Wake } from '../dispatch/index.ts';
import type { Discovery } from '../discover/index.ts';
import type { Engine, RegisterChange, RunRow } from '../journal/index.ts';
import { dedupeKeyOf } from './admission.ts';
import { taskKey } from '../core/ids.ts';
import { attemptsOf, inputOf, nowOf, outputOf } from './run-record.ts';
import { taskRegister } from './registers.ts';

type Registers = Pick<Engine, 'put' | 'reader'>;

/** Most changes of one put. */
const changesMax = 1_000;
/** A task that is merely still there is written again after this time. */
const seenAgainMs = 24 * 3_600_000;

const keyOf = (record: TaskRecord): string => `${record.loop}/${record.id}`;

const put = async (engine: Registers, changes: readonly RegisterChange[]): Promise<void> => {
  for (let at = 0; at < changes.length; at += changesMax) await engine.put(changes.slice(at, at + changesMax));
};

export const recordsOf = (reader: Pick<Registers['reader'], 'register'>, loop: string): readonly TaskRecord[] =>
  reader.register(taskRegister, { prefix: `${loop}/` }).map((entry) => entry.value as TaskRecord);

const isNews = (before: TaskRecord | undefined, after: TaskRecord): boolean =>
  before === undefined ||
  after.lastSeenAt - before.lastSeenAt >= seenAgainMs ||
  JSON.stringify({ ...before, lastSeenAt: 0 }) !== JSON.stringify({ ...after, lastSeenAt: 0 });

export interface Remembered {
  readonly matches: readonly TaskMatch[];
  /** Keys of tasks that were gone from their source and are there again. */
  readonly back: ReadonlySet<string>;
}

export const nothingFound: Remembered = { matches: [], back: new Set() };

/** Recognises what a discovery found and keeps what is new about it. */
export const rememberFound = async (
  engine: Registers,
  { loop, discovery, now }: { readonly loop: string; readonly discovery: Discovery; readonly now: EpochMs },
): Promise<Remembered> => {
  const known = recordsOf(engine.reader, loop);
  const before = new Map(known.map((record) => [record.id, record]));
  const { tasks, unread } = discovery;
  const matches = recogniseTasks(known, { loop, tasks, setAside: discovery.setAside.map((aside) => aside.key), unread }, now);
  const news = matches.filter(({ record }) => isNews(before.get(record.id), record));
  await put(
    engine,
    news.map(({ record }) => ({ register: taskRegister, key: keyOf(record), value: record })),
  );
  const back = matches.flatMap((match) => {
    const state = before.get(match.record.id)?.state;
    return match.match !== 'vanished' && (state === 'vanished' || state === 'closed') ? [match.task.key] : [];
  });
  return { matches, back: new Set(back) };
};

/** Every key under which runs of this task may stand, the present one first. */
export const keysOf = (record: TaskRecord): readonly string[] => [record.identity.key, ...record.formerKeys.toReversed()];

const dedupeKeysOf = (record: TaskRecord): readonly string[] =>
  record.identity.claim === undefined
    ? keysOf(record).map((key) => dedupeKeyOf({ key: taskKey(key) }))
    : [dedupeKeyOf({ key: taskKey(record.identity.key), claim: record.identity.claim })];

/**
 * Open runs of tasks that their source does not name any more. One that is landing already is left to land: cutting a landing in two helps
 * nobody.
 */
export const runsOfVanished = (reader: Registers['reader'], matches: readonly TaskMatch[]): readonly RunRow[] =>
  matches
    .filter((match) => match.match === 'vanished')
    .flatMap(({ record }) => dedupeKeysOf(record).flatMap((dedupeKey) => reader.runs({ dedupeKey })))
    .filter((row) => row.endedAt === undefined && nowOf(row)?.stage !== 'landing');

const stateOf = (row: RunRow, wake: Wake | undefined): Pick<TaskRecord, 'state' | 'wake'> => {
  const { exit, landed } = outputOf(row);
  if (exit.exit === 'goal-met') return { state: landed?.landed === 'merge' ? 'landed' : 'delivered', wake: undefined };
  if (exit.exit === 'nothing-to-do') return { state: 'vanished', wake: undefined };
  if (exit.exit === 'stopped' && exit.by === 'cancelled') return { state: 'open', wake: undefined };
  return { state: 'parked', wake: wake ?? { on: 'person' } };
};

/** The record of the task a run was made at. */
const recordOfRun = (reader: Registers['reader'], row: RunRow): TaskRecord | undefined => {
  const { loop, task } = inputOf(row);
  return recordsOf(reader, loop.name).find((record) => keysOf(record).includes(task.key));
};

/** Adds a run that has ended to what is remembered of its task. @returns the record as it is now */
export const rememberRun = async (engine: Registers, row: RunRow, wake: Wake | undefined): Promise<TaskRecord | undefined> => {
  const record = recordOfRun(engine.reader, row);
  if (record === undefined) return undefined;
  const output = outputOf(row);
  const attempts = attemptsOf(row);
  const tried = {
    run: row.id,
    at: row.startedAt,
    attempts: attempts.length,
    exit: output.exit.exit,
    class: classifyFailure({ exit: output.exit, attempts })?.class,
    summary: attempts.at(-1)?.record.summary ?? exitText(output.exit),
    spend: output.spend,
  };
  // A run that a person or a reset opened again replaces what was said of it before.
  const others = { ...record, tried: record.tried.filter((one) => one.run !== row.id) };
  const isAgain = others.tried.length < record.tried.length;
  const added = { ...addTried(others, tried), ...stateOf(row, wake) };
  const next = isAgain ? { ...added, runs: record.runs } : added;
  await put(engine, [{ register: taskRegister, key: keyOf(next), value: next }]);
  return next;
};

/** What earlier runs tried at a task, for the prompt of the next one. */
export const triedBefore = (reader: Registers['reader'], loop: string, key: string): string => {
  const record = recordsOf(reader, loop).find((one) => one.identity.key === key);
  return record === undefined ? '' : triedText(record);
};
