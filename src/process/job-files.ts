// The job folder: what one process leaves for whoever asks later.
//
//   spec.json     what to start, by which engine; names of environment variables, never their values
//   claim.json    who took the job: a shim, or a revocation. Made once, whole, by link(2); whoever makes it owns the folder
//   program.json  the program's own process, once it runs
//   control.json  the first request to end it
//   result.json   how it ended; there only when everything else is complete
//   stdout.log, stderr.log (and segments, see stream-layout.ts), shim.log (what the shim itself had to complain about)
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

import type { ProcessEnd, ProcessIdentity, ProcessResult, ProcessSpec } from './port.ts';
import { logPath } from './stream-layout.ts';
import type { JoinedStream } from './stream-layout.ts';

export interface StoredSpec extends Omit<ProcessSpec, 'env'> {
  /** Names the start this spec was written for: a shim of an earlier one finds another name and leaves. */
  readonly launch: string;
  readonly owner: ProcessIdentity;
  /** Whether what the program leaves behind may become a child of the owner (reaper.ts). */
  readonly ownerTakesOrphans: boolean;
  readonly envNames: readonly string[];
}

export type Claim =
  | { readonly by: 'shim'; readonly launch: string; readonly shim: ProcessIdentity; readonly claimedAt: number }
  | { readonly by: 'revoked'; readonly why: string; readonly claimedAt: number };

export interface StoredProgram {
  readonly program: ProcessIdentity;
  readonly startedAt: number;
}

export type EndRequest = 'cancelled' | 'after-result';

/** As in the port, but with the streams as they lie on disk; paths are left out, so that a folder may be moved. */
export interface StoredResult extends Omit<ProcessResult, 'stdout' | 'stderr'> {
  readonly stdout: JoinedStream;
  readonly stderr: JoinedStream;
}

type JobFile = 'spec' | 'claim' | 'program' | 'control' | 'result';

const fileOf = (jobDir: string, file: JobFile): string => path.join(jobDir, `${file}.json`);

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

const syncFolder = (folder: string): void => {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

/**
 * Files that must outlast a power loss: a lost claim would let a program be started twice, a lost result would make it lost. The others
 * only speak of processes, and these do not outlast one either; a sync costs milliseconds on an idle disk and tenths of a second on a busy one.
 */
const isDurable = (file: JobFile): boolean => file === 'claim' || file === 'result';

const writeTemporary = (jobDir: string, file: JobFile, value: unknown): string => {
  const temporary = `${fileOf(jobDir, file)}.${process.pid}`;
  const handle = openSync(temporary, 'w', 0o600);
  try {
    const bytes = Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
    for (let done = 0; done < bytes.length;) done += writeSync(handle, bytes, done);
    if (isDurable(file)) fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  return temporary;
};

/** Puts a whole file in place of what was there; after a crash one of the two is there, never a part. */
const replace = (jobDir: string, file: JobFile, value: unknown): void => {
  renameSync(writeTemporary(jobDir, file, value), fileOf(jobDir, file));
  if (isDurable(file)) syncFolder(jobDir);
};

/**
 * Makes a whole file only where there is none: link(2) fails if the name exists, as O_EXCL does, but never shows an empty file.
 * @returns whether this call made it
 */
const createOnce = (jobDir: string, file: JobFile, value: unknown): boolean => {
  const temporary = writeTemporary(jobDir, file, value);
  try {
    linkSync(temporary, fileOf(jobDir, file));
    if (isDurable(file)) syncFolder(jobDir);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
};

/** Every file is written whole by this module, so what is there is trusted to have its shape. */
const read = (jobDir: string, file: JobFile): unknown => {
  try {
    return JSON.parse(readFileSync(fileOf(jobDir, file), 'utf8')) as unknown;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

export const readSpec = (jobDir: string): StoredSpec | undefined => read(jobDir, 'spec') as StoredSpec | undefined;
export const readClaim = (jobDir: string): Claim | undefined => read(jobDir, 'claim') as Claim | undefined;
export const readProgram = (jobDir: string): StoredProgram | undefined => read(jobDir, 'program') as StoredProgram | undefined;
export const readResult = (jobDir: string): StoredResult | undefined => read(jobDir, 'result') as StoredResult | undefined;
/** Asked at every tick, and as a rule there is none: an error with its stack would cost more than the look. */
export const readControl = (jobDir: string): EndRequest | undefined =>
  existsSync(fileOf(jobDir, 'control')) ? (read(jobDir, 'control') as { readonly end: EndRequest } | undefined)?.end : undefined;

export const writeSpec = (jobDir: string, spec: StoredSpec): void => replace(jobDir, 'spec', spec);
export const writeProgram = (jobDir: string, program: StoredProgram): void => replace(jobDir, 'program', program);
export const writeResult = (jobDir: string, result: StoredResult): void => replace(jobDir, 'result', result);
export const takeClaim = (jobDir: string, claim: Claim): boolean => createOnce(jobDir, 'claim', claim);
export const requestEnd = (jobDir: string, end: EndRequest): boolean => createOnce(jobDir, 'control', { end });

export const nothingSeen: JoinedStream = { bytesSeen: 0, head: 0, note: 0, tailStart: 0, tail: 0 };

/** A result for a job in which no program ever ran. */
export const neverRan = (end: ProcessEnd, about: { readonly problem: string; readonly at: number }): StoredResult => ({
  end,
  exitCode: null,
  signal: null,
  startedAt: about.at,
  endedAt: about.at,
  wallMs: 0,
  suspendedMs: 0,
  orphansKilled: 0,
  problem: about.problem,
  stdout: nothingSeen,
  stderr: nothingSeen,
});

/** The result as the port promises it. */
export const toResult = (jobDir: string, stored: StoredResult): ProcessResult => {
  const file = (name: 'stdout' | 'stderr'): ProcessResult['stdout'] => {
    const { bytesSeen, head, tail } = stored[name];
    return { path: logPath(jobDir, name), bytesSeen, bytesKept: head + tail, cut: head + tail < bytesSeen || stored[name].note > 0 };
  };
  return { ...stored, stdout: file('stdout'), stderr: file('stderr') };
};
