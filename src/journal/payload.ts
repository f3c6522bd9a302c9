// A payload: the input or output of a run, the outcome of a step, what a signal carries. Up to 256 KiB it is JSON text in the journal; a
// larger one goes into a blob, and the journal holds the reference to it. Registers, streams and domain facts take no blobs.
import { Fault } from '../core/fault.ts';
import { blobBytesMax, type Blobs, isBlobReference } from './blobs.ts';
import { inlineBytesMax, jsonText } from './json.ts';
import type { RunRow } from './port.ts';

const namesBlob = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.hasOwn(value, '$blob');

/** @throws Fault PAYLOAD_NOT_JSON, PAYLOAD_TOO_LARGE (more than 64 MiB) */
const measured = (value: unknown, what: string): { readonly text: string | undefined; readonly isLarge: boolean } => {
  const text = jsonText(value, what);
  if (text === undefined) return { text, isLarge: false };
  const bytes = Buffer.byteLength(text);
  if (bytes > blobBytesMax) {
    throw new Fault('PAYLOAD_TOO_LARGE', `${what} takes ${bytes} bytes; a payload takes at most ${blobBytesMax}.`, {
      hint: 'Write it to a file of its own and keep the path and the hash.',
      data: { bytes, bytesMax: blobBytesMax },
    });
  }
  return { text, isLarge: bytes > inlineBytesMax || (text.includes('"$blob"') && namesBlob(JSON.parse(text))) };
};

/**
 * Writes a value as JSON text, or as that of the reference to its blob once the blob is on disk.
 * @param what names the value in the error: `The outcome of step "build"`
 * @returns `undefined` for `undefined`
 * @throws Fault PAYLOAD_NOT_JSON, PAYLOAD_TOO_LARGE (more than 64 MiB), or what the disk says
 */
export const encodePayload = (blobs: Blobs, value: unknown, what: string): string | undefined => {
  const { text, isLarge } = measured(value, what);
  return text !== undefined && isLarge ? JSON.stringify(blobs.put(text)) : text;
};

/** The reverse, for a value that was read as JSON already. @throws Fault BLOB_MISSING, BLOB_CHANGED */
export const resolvePayload = (blobs: Blobs, value: unknown): unknown =>
  isBlobReference(value) ? (JSON.parse(blobs.read(value)) as unknown) : value;

/** A run whose input and output are read from their blobs when somebody looks at them, so that a lost blob hides no list of runs. */
export const resolveRun = (blobs: Blobs, run: RunRow): RunRow => {
  if (!isBlobReference(run.input) && !isBlobReference(run.output)) return run;
  const input = once(() => resolvePayload(blobs, run.input));
  const output = once(() => resolvePayload(blobs, run.output));
  return {
    ...run,
    get input() {
      return input();
    },
    get output() {
      return output();
    },
  };
};

/** A blob of a row is read and checked once, however often somebody looks. */
const once = <T>(read: () => T): (() => T) => {
  let known: { readonly value: T } | undefined;
  return () => (known ??= { value: read() }).value;
};
