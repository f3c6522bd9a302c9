// Makes one file of head and segments when a stream is over. Works from the files alone, so that the engine can do it for a shim that
// was killed, even in the middle of joining: what was copied already is cut off again and counts as lost.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';

import { closingPath, cutNote, logPath, segmentIndices, segmentPath } from './stream-layout.ts';
import type { JoinedStream, StreamLayout, StreamName } from './stream-layout.ts';

const copyBytes = 64 * 1024;

/** Appends a file, from an offset on, to the place where `to` ends. */
const append = (from: string, options: { readonly skip: number; readonly to: number; readonly at: number }): number => {
  const file = openSync(from, 'r');
  try {
    const buffer = Buffer.alloc(copyBytes);
    let copied = 0;
    for (;;) {
      const read = readSync(file, buffer, 0, copyBytes, options.skip + copied);
      if (read === 0) return copied;
      for (let done = 0; done < read;) done += writeSync(options.to, buffer, done, read - done, options.at + copied + done);
      copied += read;
    }
  } finally {
    closeSync(file);
  }
};

/**
 * Joins and syncs one stream.
 * @param options.bytesSeen how many bytes came, where that is known; more than the files show means that the last ones were not kept
 * @throws what the file system throws; what stands in the log so far stays a prefix
 */
export const joinStream = (options: {
  readonly dir: string;
  readonly name: StreamName;
  readonly layout: StreamLayout;
  readonly bytesSeen?: number;
}): JoinedStream => {
  const { dir, name, layout } = options;
  const wasClosing = existsSync(closingPath(dir, name));
  closeSync(openSync(closingPath(dir, name), 'a', 0o600));
  const log = openSync(logPath(dir, name), 'a+', 0o600);
  // 'a+' makes a missing file; writing at a position needs one that is not in append mode.
  closeSync(log);
  const file = openSync(logPath(dir, name), 'r+');
  try {
    if (fstatSync(file).size > layout.headBytes) ftruncateSync(file, layout.headBytes);
    const head = fstatSync(file).size;
    const indices = segmentIndices(readdirSync(dir), name);
    const first = indices[0];
    const last = indices.at(-1);
    const startOf = (index: number): number => layout.headBytes + index * layout.segmentBytes;
    const end = last === undefined ? head : startOf(last) + statSync(segmentPath(dir, name, last)).size;
    const tailStart = first === undefined ? head : Math.max(startOf(first), end - layout.tailBytes);
    const bytesSeen = Math.max(end, options.bytesSeen ?? 0);
    const lost = tailStart - head + (bytesSeen - end);
    const note = lost > 0 || (wasClosing && first === undefined) ? Buffer.from(cutNote(lost)) : Buffer.alloc(0);
    let at = head + writeSync(file, note, 0, note.length, head);
    for (const index of indices) {
      const skip = Math.max(0, tailStart - startOf(index));
      at += append(segmentPath(dir, name, index), { skip, to: file, at });
      rmSync(segmentPath(dir, name, index));
    }
    if (bytesSeen > 0) fsyncSync(file);
    return { bytesSeen, head, note: note.length, tailStart, tail: end - tailStart };
  } finally {
    closeSync(file);
  }
};

/** To be called once the result tells where everything is. */
export const forgetClosing = (dir: string): void => {
  for (const name of ['stdout', 'stderr'] as const) rmSync(closingPath(dir, name), { force: true });
};
