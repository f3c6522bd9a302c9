import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { Fault } from '../core/fault.ts';

/** What a failed call of SQLite means for the journal. `statement` is a mistake of ours, never the storage's. */
export type StorageTrouble = 'locked' | 'full' | 'readonly' | 'failed' | 'corrupt' | 'statement';

// Primary result codes: https://www.sqlite.org/rescode.html
const troubles: ReadonlyMap<number, StorageTrouble> = new Map([
  [3, 'failed'], // PERM
  [5, 'locked'], // BUSY
  [6, 'locked'], // LOCKED
  [7, 'failed'], // NOMEM
  [8, 'readonly'], // READONLY
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

const systemTroubles: ReadonlyMap<string, StorageTrouble> = new Map([
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EROFS', 'readonly'],
]);

/** A folder that cannot be made, a file that cannot be written: refused by the system, and SQLite had no part in it. */
export const systemTrouble = (error: unknown): StorageTrouble | undefined => {
  if (!(error instanceof Error) || !('syscall' in error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? (systemTroubles.get(code) ?? 'failed') : undefined;
};

const sentences: Readonly<Record<Exclude<StorageTrouble, 'statement'>, readonly [code: string, sentence: string, hint: string]>> = {
  locked: [
    'STORAGE_LOCKED',
    'is held locked by another program',
    'Close the program that has the file open; the runs go on when Gyre is started again.',
  ],
  full: ['STORAGE_FULL', 'cannot grow, because the disk is full', 'Free some space; the runs go on when Gyre is started again.'],
  readonly: [
    'STORAGE_READONLY',
    'can be read and not written, because its folder or disk is read-only',
    'What was written can be read (`gyre status`, `gyre journal export`); make the folder writable to go on with the runs.',
  ],
  failed: [
    'STORAGE_FAILED',
    'cannot be read or written',
    'Check the disk and the permissions of the folder; the runs go on when Gyre is started again.',
  ],
  corrupt: [
    'JOURNAL_CORRUPT',
    'is damaged or not a journal',
    'Save what can be read with `gyre journal export`, move the file aside (keep it) and start again, or put back a copy.',
  ],
};

/** SQLite says only that it cannot open a file when it cannot make one. */
const isReadOnly = (folder: string): boolean => {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EROFS' || code === 'EACCES';
  }
};

/** One clear sentence about the journal file for an error of SQLite; anything else is given back as it is. */
export const storageFault = (error: unknown, file: string): unknown => {
  const found = storageTrouble(error) ?? systemTrouble(error);
  if (found === undefined || found === 'statement') return error;
  const trouble = found === 'failed' && isReadOnly(path.dirname(file)) ? 'readonly' : found;
  const [code, sentence, hint] = sentences[trouble];
  const detail = error instanceof Error ? ` (${error.message})` : '';
  return new Fault(code, `The journal ${file} ${sentence}${detail}.`, { hint, data: { file }, cause: error });
};
