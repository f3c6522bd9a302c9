// The floor that the journal is measured against: the least a durable step can cost on SQLite. Intent and outcome of a step are on disk
// (WAL, synchronous = FULL) before the step begins and before it returns; what one turn of the event loop writes commits together. No
// hash chain, no owner, no retry, no cancel, no replay.
import { DatabaseSync } from 'node:sqlite';

export interface Floor {
  step<T>(run: number, key: string, effect: () => Promise<T>): Promise<T>;
  close(): void;
}

export const openFloor = (file: string): Floor => {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  db.exec('CREATE TABLE steps (run INTEGER, key TEXT, outcome TEXT, PRIMARY KEY (run, key)) WITHOUT ROWID');
  const intend = db.prepare('INSERT INTO steps (run, key) VALUES (?, ?)');
  const complete = db.prepare('UPDATE steps SET outcome = ? WHERE run = ? AND key = ?');
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
      await write(() => void intend.run(run, key));
      const outcome = await effect();
      await write(() => void complete.run(JSON.stringify(outcome), run, key));
      return outcome;
    },
    close: () => db.close(),
  };
};
