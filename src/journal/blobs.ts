// Payloads that are too large for the journal: `<state home>/blobs/<first two digits>/<sha256>`, named by their content.
//
//  1. A blob is on disk (written aside, fsync, rename, fsync of the folder) before a row that names it is written.
//  2. The journal holds {"$blob": <sha256>, "bytes": n} in its place. A value that has a member `$blob` itself always goes into a blob,
//     so that a reference can never be mistaken for a value.
//  3. The digest is checked on every reading: a blob that is missing or changed is one clear fault, never a wrong value.
//  4. A blob that is used again is written again: it counts as new, so that purging does not take it away between its writing and its
//     row, and one that was damaged meanwhile is whole again.
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { Fault } from '../core/fault.ts';

/** Most bytes of one blob. */
export const blobBytesMax = 64 * 1024 * 1024;

/** What the journal holds in the place of a blob. */
export interface BlobReference {
  readonly $blob: string;
  readonly bytes: number;
}

export interface Blobs {
  /** @returns the reference, once the bytes are safe on disk */
  put(text: string): BlobReference;
  /** @throws Fault BLOB_MISSING, BLOB_CHANGED */
  read(reference: BlobReference): string;
  /** Every blob that is there, and what a broken-off writing left (`digest` undefined). */
  list(): readonly BlobFile[];
  remove(file: BlobFile): void;
}

export interface BlobFile {
  readonly path: string;
  readonly digest: string | undefined;
  readonly bytes: number;
  readonly usedAt: number;
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** @param value what `JSON.parse` gives */
export const isBlobReference = (value: unknown): value is BlobReference =>
  typeof value === 'object' && value !== null && '$blob' in value && typeof value.$blob === 'string' && isDigest(value.$blob);

const syncFolder = (folder: string): void => {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

const writeSafely = (file: string, bytes: Buffer): void => {
  const folder = path.dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const aside = `${file}.${process.pid}.part`;
  try {
    const handle = openSync(aside, 'w', 0o600);
    try {
      writeFileSync(handle, bytes);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(aside, file);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
  for (const made of [folder, path.dirname(folder)]) syncFolder(made);
};

export const createBlobs = (stateHome: string): Blobs => {
  const root = path.join(stateHome, 'blobs');
  const fileOf = (digest: string): string => path.join(root, digest.slice(0, 2), digest);
  const trouble = (code: string, what: string, { $blob, bytes }: BlobReference): Fault =>
    new Fault(code, `The blob ${$blob} (${bytes} bytes) of the state home ${stateHome} ${what}.`, {
      hint: `Put ${fileOf($blob)} back from a copy; everything else of the journal stays readable.`,
      data: { digest: $blob, bytes, file: fileOf($blob) },
    });
  return {
    put: (text) => {
      const bytes = Buffer.from(text);
      const digest = digestOf(bytes);
      writeSafely(fileOf(digest), bytes);
      return { $blob: digest, bytes: bytes.length };
    },
    read: (reference) => {
      const file = fileOf(reference.$blob);
      if (!existsSync(file)) throw trouble('BLOB_MISSING', 'is missing', reference);
      const bytes = readFileSync(file);
      if (digestOf(bytes) !== reference.$blob) throw trouble('BLOB_CHANGED', 'was changed: its content does not fit its name', reference);
      return bytes.toString('utf8');
    },
    list: () =>
      !existsSync(root)
        ? []
        : readdirSync(root, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => {
              const file = path.join(entry.parentPath, entry.name);
              const { size, mtimeMs } = statSync(file);
              return { path: file, digest: isDigest(entry.name) ? entry.name : undefined, bytes: size, usedAt: mtimeMs };
            }),
    remove: (file) => rmSync(file.path, { force: true }),
  };
};

/** Blobs that wait in memory for `flush`, so that the store writes them with its own patience and before the rows that name them. */
export const deferBlobs = (blobs: Blobs): Blobs & { flush(): void } => {
  const waiting = new Map<string, string>();
  return {
    ...blobs,
    put: (text) => {
      const bytes = Buffer.from(text);
      const digest = digestOf(bytes);
      waiting.set(digest, text);
      return { $blob: digest, bytes: bytes.length };
    },
    read: (reference) => waiting.get(reference.$blob) ?? blobs.read(reference),
    flush: () => {
      for (const [digest, text] of waiting) {
        blobs.put(text);
        waiting.delete(digest);
      }
    },
  };
};
