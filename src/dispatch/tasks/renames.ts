import type { Task } from '../../core/task.ts';
import type { TaskIdentity, TaskRecord } from './port.ts';

/** A found task and what it will be recognised by. */
export interface Seen {
  readonly task: Task;
  readonly identity: TaskIdentity;
}

type Pair = readonly [TaskRecord, Seen];

const testLikeness = 0.5;
const itemLikeness = 0.6;
/** Where more pairs than this would have to be compared, so much changed at once that nothing can be told from it. */
const pairsMax = 20_000;

/** Share of words that two texts have in common, 0 to 1 (Jaccard index). */
const likeness = (a: string, b: string): number => {
  const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  const [left, right] = [wordsOf(a), wordsOf(b)];
  const common = [...left].filter((word) => right.has(word)).length;
  const all = left.size + right.size - common;
  return all === 0 ? 0 : common / all;
};

/** Pairs in which each side has exactly one partner. */
const onlyPairs = (
  gone: readonly TaskRecord[],
  fresh: readonly Seen[],
  areAlike: (before: TaskIdentity, now: TaskIdentity) => boolean,
): readonly Pair[] => {
  if (gone.length * fresh.length > pairsMax) return [];
  const partners = gone.map((record) => ({ record, of: fresh.filter((seen) => areAlike(record.identity, seen.identity)) }));
  const wanted = new Map<Seen, number>();
  for (const { of } of partners) for (const seen of of) wanted.set(seen, (wanted.get(seen) ?? 0) + 1);
  return partners.flatMap(({ record, of }) => {
    const [seen] = of;
    return of.length === 1 && seen !== undefined && wanted.get(seen) === 1 ? [[record, seen] as const] : [];
  });
};

const areOfOneFile = (before: TaskIdentity, now: TaskIdentity): boolean =>
  before.test !== undefined &&
  now.test !== undefined &&
  before.source === now.source &&
  before.test.command === now.test.command &&
  now.test.file !== undefined &&
  before.test.file === now.test.file;

const failAlike = (before: TaskIdentity, now: TaskIdentity): boolean =>
  areOfOneFile(before, now) && now.failureHash !== '' && before.failureHash === now.failureHash;

const areOneItem = (before: TaskIdentity, now: TaskIdentity): boolean =>
  now.list !== undefined && before.list === now.list && before.source === now.source && likeness(before.title, now.title) >= itemLikeness;

/**
 * Which of the tasks that are new are tasks that are gone, under another name: rules 3 and 4 of recognise.ts. Pure.
 * @param gone records that this discovery should have shown and did not
 * @param fresh found tasks that no record has the key of
 */
export const renamesOf = (gone: readonly TaskRecord[], fresh: readonly Seen[]): readonly Pair[] => {
  const byFailure = onlyPairs(gone, fresh, failAlike);
  const paired = new Set<TaskRecord | Seen>(byFailure.flat());
  const [goneStill, freshStill] = [gone.filter((record) => !paired.has(record)), fresh.filter((seen) => !paired.has(seen))];
  // The only two that are left of their file: with a third, one may have been repaired and another broken.
  const byName = onlyPairs(goneStill, freshStill, areOfOneFile).filter(
    ([{ identity }, seen]) => likeness(identity.test?.id ?? '', seen.identity.test?.id ?? '') >= testLikeness,
  );
  return [...byFailure, ...byName, ...onlyPairs(goneStill, freshStill, areOneItem)];
};
