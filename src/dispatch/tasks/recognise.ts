// A task seen again is the same task. Wrong in one direction costs little (a renamed task begins anew), wrong in the other a lot (a task
// inherits what was tried at another one), so every rule but the first two asks for a pair that is the only one of its kind:
//
//  1. Same key.
//  2. Same name in the outside world (`claim`).
//  3. A test: the old one is gone in this very discovery, the new one is new, both of one command and one file, and either both fail with
//     the same text once their names are taken out, or they are the only two of that file and share half of their words.
//  4. An item of a list: the old one is gone, the new one is new, of one list, and they share 60% of their words.
//
// No record is given to two tasks and no task two records. What is missing of a source that was not read whole is not gone (L2).
import type { EpochMs } from '../../core/ids.ts';
import { noSpend } from '../../core/spend.ts';
import { identityOfTask, taskIdOf } from './identity.ts';
import type { FoundTasks, TaskMatch, TaskRecord } from './port.ts';
import { renamesOf, type Seen } from './renames.ts';

const formerKeysMax = 10;

const isOver = (record: TaskRecord): boolean => record.state === 'landed' || record.state === 'vanished' || record.state === 'closed';

const seenAgain = (record: TaskRecord, { task, identity }: Seen, now: EpochMs): TaskMatch => {
  const { key, textHash } = record.identity;
  const formerKeys = key === identity.key ? record.formerKeys : [...record.formerKeys, key].slice(-formerKeysMax);
  const kept = { ...record, identity, formerKeys, lastSeenAt: now };
  if (isOver(record))
    return { match: 'reopened', task, record: { ...kept, state: 'open', wake: undefined, reopened: record.reopened + 1, tries: {} } };
  // An item of a list has its key from its words: another key is an edit.
  if (key !== identity.key) return { match: identity.list === undefined ? 'renamed' : 'edited', task, record: kept };
  return { match: textHash === identity.textHash ? 'same' : 'edited', task, record: kept };
};

const newTask = (loop: string, { task, identity }: Seen, now: EpochMs): TaskMatch => ({
  match: 'new',
  task,
  record: {
    id: taskIdOf(loop, identity.key, now),
    loop,
    identity,
    formerKeys: [],
    state: 'open',
    wake: undefined,
    firstSeenAt: now,
    lastSeenAt: now,
    reopened: 0,
    tried: [],
    runs: 0,
    spend: noSpend,
    tries: {},
  },
});

/** Of several records of one name the one seen last: a key may have been used again for other work. */
const newestBy = (known: readonly TaskRecord[], nameOf: (record: TaskRecord) => string | undefined): ReadonlyMap<string, TaskRecord> => {
  const newest = new Map<string, TaskRecord>();
  for (const record of known) {
    const name = nameOf(record);
    if (name === undefined) continue;
    const other = newest.get(name);
    if (other === undefined || other.lastSeenAt < record.lastSeenAt) newest.set(name, record);
  }
  return newest;
};

/**
 * Holds what a discovery found against what is known of the loop's tasks. Pure; the rules stand at the top of this file.
 * @param known records of this loop, any order
 * @returns one match for each found task, in their order, then the vanished ones. Records that nothing was heard of are not among them.
 */
export const recogniseTasks = (known: readonly TaskRecord[], found: FoundTasks, now: EpochMs): readonly TaskMatch[] => {
  const byKey = newestBy(known, (record) => record.identity.key);
  const byClaim = newestBy(known, (record) => record.identity.claim);
  const seen: readonly Seen[] = found.tasks.map((task) => ({ task, identity: identityOfTask(task) }));
  const given = new Map<Seen, TaskRecord>();
  const used = new Set<TaskRecord>();
  const give = (record: TaskRecord | undefined, one: Seen): void => {
    if (record === undefined || used.has(record) || given.has(one)) return;
    given.set(one, record);
    used.add(record);
  };
  for (const one of seen) give(byKey.get(one.identity.key), one);
  for (const one of seen) if (one.identity.claim !== undefined) give(byClaim.get(one.identity.claim), one);

  const unread = new Set(found.unread);
  const setAside = new Set(found.setAside);
  const gone = [...byKey.values()].filter(
    (record) => !isOver(record) && !used.has(record) && !unread.has(record.identity.source) && !setAside.has(record.identity.key),
  );
  const fresh = seen.filter((one) => !given.has(one));
  for (const [record, one] of renamesOf(gone, fresh)) give(record, one);

  const present = seen.map((one) => {
    const record = given.get(one);
    return record === undefined ? newTask(found.loop, one, now) : seenAgain(record, one, now);
  });
  const vanished = gone
    .filter((record) => !used.has(record))
    .map((record): TaskMatch => ({ match: 'vanished', record: { ...record, state: 'vanished', wake: undefined } }));
  return [...present, ...vanished];
};
