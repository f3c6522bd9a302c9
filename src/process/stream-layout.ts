// How the bytes of one output stream lie on disk. Pure.
//
// While the program runs:   <name>.log        the head, the first `headBytes`
//                           <name>.tail.<n>   what follows, in segments of `segmentBytes`; the oldest are removed
// At the end all is joined: <name>.log        head, a note about what was cut (if any), tail
import path from 'node:path';

export type StreamName = 'stdout' | 'stderr';

export interface StreamLayout {
  readonly headBytes: number;
  readonly tailBytes: number;
  readonly segmentBytes: number;
}

/** Where kept bytes of the stream stand in the joined file. Offsets count bytes of the stream, the note not among them. */
export interface JoinedStream {
  readonly bytesSeen: number;
  /** The file begins with this many bytes of the stream's beginning. */
  readonly head: number;
  /** Then come this many bytes that the program did not write. */
  readonly note: number;
  /** Then the bytes `tailStart ..< tailStart + tail` of the stream. */
  readonly tailStart: number;
  readonly tail: number;
}

const segmentMin = 4 * 1024;
const segmentMax = 512 * 1024;

/**
 * Splits the bytes that may be kept in two halves. At any time no more than `outputBytes` and two segments (1 MiB) are on disk.
 * @param outputBytes most bytes kept of one stream
 */
export const streamLayout = (outputBytes: number): StreamLayout => {
  const headBytes = Math.ceil(outputBytes / 2);
  const tailBytes = outputBytes - headBytes;
  return { headBytes, tailBytes, segmentBytes: Math.min(segmentMax, Math.max(segmentMin, Math.ceil(tailBytes / 8))) };
};

export const logPath = (dir: string, name: StreamName): string => path.join(dir, `${name}.log`);

export const segmentPath = (dir: string, name: StreamName, index: number): string => path.join(dir, `${name}.tail.${index}`);

/** Stands from the first moment of joining: a segment that is missing from then on was not lost, the joined file will hold it. */
export const closingPath = (dir: string, name: StreamName): string => path.join(dir, `${name}.closing`);

/** Numbers of the segments among the names of a folder, ascending. */
export const segmentIndices = (names: readonly string[], name: StreamName): readonly number[] =>
  names
    .filter((one) => one.startsWith(`${name}.tail.`))
    .map((one) => Number(one.slice(name.length + 6)))
    .sort((a, b) => a - b);

export const cutNote = (bytes: number): string => `\n[... ${bytes} bytes cut by Gyre ...]\n`;
