// Reads one stream of a job from its first byte on, while the program still writes and after, by the files alone.
import { closeSync, existsSync, openSync, readSync, readdirSync } from 'node:fs';

import { closingPath, logPath, segmentIndices, segmentPath } from './stream-layout.ts';
import type { JoinedStream, StreamLayout, StreamName } from './stream-layout.ts';

export interface StreamListener {
  bytes(chunk: Uint8Array): void;
  cut?(bytesLost: number): void;
}

const chunkBytes = 64 * 1024;
/** Most chunks given in one call, so that a flood does not keep the engine from everything else. */
const chunksAtOnce = 8;

/** Filled and emptied within one call. */
const readInto = new Uint8Array(chunkBytes);

/** Bytes of a file from an offset on, empty at its end; `undefined` when there is no such file. */
const readAt = (file: string, place: { readonly offset: number; readonly bytes: number }): Uint8Array | undefined => {
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return readInto.slice(0, readSync(handle, readInto, 0, Math.min(chunkBytes, place.bytes), place.offset));
  } finally {
    closeSync(handle);
  }
};

export class StreamFollower {
  readonly #dir: string;
  readonly #name: StreamName;
  readonly #layout: StreamLayout;
  readonly #listener: StreamListener;
  /** Bytes of the stream given or reported as cut so far. */
  #at = 0;

  constructor(options: {
    readonly dir: string;
    readonly name: StreamName;
    readonly layout: StreamLayout;
    readonly listener: StreamListener;
  }) {
    this.#dir = options.dir;
    this.#name = options.name;
    this.#layout = options.layout;
    this.#listener = options.listener;
  }

  /**
   * Gives what is there.
   * @param joined where the bytes are, once the job has its result
   * @returns whether there may be more at once
   */
  pump(joined: JoinedStream | undefined): boolean {
    for (let chunks = 0; chunks < chunksAtOnce; chunks += 1) {
      if (!(joined === undefined ? this.#live() : this.#final(joined))) return false;
    }
    return true;
  }

  #give(chunk: Uint8Array): boolean {
    if (chunk.length === 0) return false;
    this.#at += chunk.length;
    this.#listener.bytes(chunk);
    return true;
  }

  #skipTo(offset: number): boolean {
    const lost = offset - this.#at;
    if (lost <= 0) return false;
    this.#at = offset;
    this.#listener.cut?.(lost);
    return true;
  }

  #live(): boolean {
    const { headBytes, segmentBytes } = this.#layout;
    if (this.#at < headBytes) {
      return this.#give(readAt(logPath(this.#dir, this.#name), { offset: this.#at, bytes: headBytes - this.#at }) ?? new Uint8Array());
    }
    const index = Math.floor((this.#at - headBytes) / segmentBytes);
    const offset = (this.#at - headBytes) % segmentBytes;
    const chunk = readAt(segmentPath(this.#dir, this.#name, index), { offset, bytes: segmentBytes - offset });
    if (chunk !== undefined) return this.#give(chunk);
    // Not begun yet, rotated away, or already joined: in the last case the result is about to tell where it is.
    if (existsSync(closingPath(this.#dir, this.#name))) return false;
    const later = segmentIndices(readdirSync(this.#dir), this.#name).find((one) => one > index);
    return later !== undefined && this.#skipTo(headBytes + later * segmentBytes);
  }

  #final({ bytesSeen, head, note, tailStart, tail }: JoinedStream): boolean {
    const tailEnd = tailStart + tail;
    const end = this.#at < head ? head : tailEnd;
    if (this.#at >= head && this.#at < tailStart) return this.#skipTo(tailStart);
    if (this.#at >= tailEnd && this.#at >= head) return this.#skipTo(bytesSeen);
    const offset = this.#at < head ? this.#at : head + note + this.#at - tailStart;
    // A log that someone shortened or removed counts as cut.
    const chunk = readAt(logPath(this.#dir, this.#name), { offset, bytes: end - this.#at });
    return this.#give(chunk ?? new Uint8Array()) || this.#skipTo(bytesSeen);
  }
}
