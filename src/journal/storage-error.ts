import { Fault } from '../core/fault.ts';

/** What a failed call of SQLite means for the journal. `statement` is a mistake of ours, never the storage's. */
export type StorageTrouble = 'locked' | 'full' | 'failed' | 'corrupt' | 'statement';

// Primary result codes: https://www.sqlite.org/rescode.html
const troubles: ReadonlyMap<number, StorageTrouble> = new Map([
  [3, 'failed'], // PERM
  [5, 'locked'], // BUSY
  [6, 'locked'], // LOCKED
  [7, 'failed'], // NOMEM
  [8, 'failed'], // READONLY
  [10, 'failed'], // IOERR
  [11, 'corrupt'], // CORRUPT
  [13, 'full'], // FULL
  [14, 'failed'], // CANTOPEN
  [15, 'failed'], // PROTOCOL
  [23, 'failed'], // AUTH
  [26, 'corrupt'], // NOTADB
]);

/** @returns undefined when the error did not come from SQLite */
export const storageTrouble = (error: unknown): StorageTrouble | undefined => {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  // The low byte is the primary code; the rest says more precisely what happened.
  return troubles.get(error.errcode & 0xff) ?? 'statement';
};

const sentences: Readonly<Record<Exclude<StorageTrouble, 'statement'>, readonly [code: string, sentence: string, hint: string]>> = {
  locked: [
    'STORAGE_LOCKED',
    'is held locked by another program',
    'Close the program that has the file open; the runs go on when Gyre is started again.',
  ],
  full: ['STORAGE_FULL', 'cannot grow, because the disk is full', 'Free some space; the runs go on when Gyre is started again.'],
  failed: [
    'STORAGE_FAILED',
    'cannot be read or written',
    'Check the disk and the permissions of the folder; the runs go on when Gyre is started again.',
  ],
  corrupt: ['JOURNAL_CORRUPT', 'is damaged or not a journal', 'Move the file aside (keep it) and start again, or put back a copy.'],
};

/** A folder that cannot be made, a lock file that cannot be opened: refused by the system before SQLite was asked. */
const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && typeof (error as NodeJS.ErrnoException).code === 'string';

/** One clear sentence about the journal file for an error of SQLite; anything else is given back as it is. */
export const storageFault = (error: unknown, file: string): unknown => {
  const trouble = storageTrouble(error) ?? (isSystemError(error) ? 'failed' : undefined);
  if (trouble === undefined || trouble === 'statement') return error;
  const [code, sentence, hint] = sentences[trouble];
  const detail = error instanceof Error ? ` (${error.message})` : '';
  return new Fault(code, `The journal ${file} ${sentence}${detail}.`, { hint, data: { file }, cause: error });
};
