// The rows that say what an open run waits for. They are for people and for the wake-up; the steps are what a replay reads.
import type { Transaction } from './append.ts';
import type { WaitRow } from './port.ts';

export const writeWait = (transaction: Transaction, run: string, wait: WaitRow): void =>
  transaction.run(
    'INSERT OR REPLACE INTO waits (run, key, kind, name, until, describe) VALUES (?, ?, ?, ?, ?, ?)',
    run,
    wait.key,
    wait.on,
    wait.signal ?? null,
    wait.until ?? null,
    wait.describe ?? null,
  );

export const endWait = (transaction: Transaction, run: string, key: string): void =>
  transaction.run('DELETE FROM waits WHERE run = ? AND key = ?', run, key);

/** Ends the waits of a branch that was given up, by the prefix of its keys; '' ends all of the run. */
export const endWaits = (transaction: Transaction, run: string, prefix: string): void =>
  transaction.run('DELETE FROM waits WHERE run = ? AND substr(key, 1, length(?)) = ?', run, prefix, prefix);
