import { DatabaseSync } from 'node:sqlite';
import { openEngineWith } from '../../../src/journal/open-engine.ts';
import type { Ground } from './play.ts';

/** The engine over a database in memory, which its crashes leave as it is. */
export const sqliteGround = (): Ground => {
  const db = new DatabaseSync(':memory:');
  const identity = { pid: 1, startTime: '1', bootId: 'simulated' };
  return {
    open: (options, hooks) => openEngineWith(options, { ...hooks, memory: { db, identity } }),
    close: () => db.close(),
  };
};
