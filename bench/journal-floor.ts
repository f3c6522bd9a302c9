// The floors that the journal is measured against, each with intent and outcome of a step on disk (WAL, synchronous = FULL) before the step
// begins and before it returns; what one turn of the event loop writes commits together.
//   bare      the least a durable step can cost on SQLite: one row a step, and nothing tells what happened when.
//   recorded  what a journal is: beside the row of the step an appended record of intent and outcome, each with the hash of the one before.
// Neither has an owner, retries, cancels, budgets, slots or a replay.
import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

export interface Floor {
  step<T>(run: number, key: string, effect: () => Promise<T>): Promise<T>;
  close(): void;
}

export const openFloor = (file: string, kind: 'bare' | 'recorded'): Floor => {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  db.exec('CREATE TABLE steps (run INTEGER, key TEXT, outcome TEXT, PRIMARY KEY (run, key)) WITHOUT ROWID');
  db.exec('CREATE TABLE facts (seq INTEGER PRIMARY KEY, at INTEGER, kind TEXT, run INTEGER, data TEXT, prev TEXT, hash TEXT)');
  db.exec('CREATE INDEX facts_by_run ON facts (run, seq)');
  const intend = db.prepare('INSERT INTO steps (run, key) VALUES (?, ?)');
  const complete = db.prepare('UPDATE steps SET outcome = ? WHERE run = ? AND key = ?');
  const append = db.prepare('INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?)');
  let [seq, prev] = [0, '0'.repeat(64)];
  const record = (factKind: string, run: number, data: object): void => {
    if (kind === 'bare') return;
    const [at, text] = [Date.now(), JSON.stringify(data)];
    const next = hash('sha256', JSON.stringify([(seq += 1), at, factKind, run, text, prev]), 'hex');
    append.run(seq, at, factKind, run, text, prev, next);
    prev = next;
  };
  let queue: { readonly work: () => void; readonly done: () => void }[] = [];
  const flush = (): void => {
    const batch = queue;
    queue = [];
    db.exec('BEGIN IMMEDIATE');
    for (const { work } of batch) work();
    db.exec('COMMIT');
    for (const { done } of batch) done();
  };
  const write = (work: () => void): Promise<void> =>
    new Promise((done) => {
      if (queue.length === 0) setImmediate(flush);
      queue.push({ work, done });
    });
  return {
    step: async (run, key, effect) => {
      await write(() => (intend.run(run, key), record('intended', run, { key })));
      const outcome = await effect();
      await write(() => (complete.run(JSON.stringify(outcome), run, key), record('completed', run, { key, outcome })));
      return outcome;
    },
    close: () => db.close(),
  };
};
