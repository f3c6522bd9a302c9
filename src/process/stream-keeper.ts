// Writes one output stream to disk, raw and bounded. Every write is synchronous: a program that writes faster than the disk takes it
// is held back by its pipe, so memory stays at one chunk, and a reader always sees a prefix of what came.
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';

import { logPath, segmentPath } from './stream-layout.ts';
import type { StreamLayout, StreamName } from './stream-layout.ts';

export class StreamKeeper {
  readonly name: StreamName;
  readonly #dir: string;
  readonly #layout: StreamLayout;
  #file: number | undefined;
  /** Segment that `#file` is; -1 is the head. */
  #index = -1;
  #oldest = 0;
  #bytesSeen = 0;
  #problem = '';

  constructor(place: { readonly dir: string; readonly name: StreamName; readonly layout: StreamLayout }) {
    this.#dir = place.dir;
    this.name = place.name;
    this.#layout = place.layout;
    this.#attempt(() => {
      this.#file = openSync(logPath(place.dir, place.name), 'w', 0o600);
    });
  }

  get bytesSeen(): number {
    return this.#bytesSeen;
  }

  /** Empty, or why nothing more was kept: a full disk must not end the program, only what is kept of it. */
  get problem(): string {
    return this.#problem;
  }

  write(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0 && this.#problem === '') {
      const piece = rest.subarray(0, this.#room());
      if (!this.#attempt(() => this.#keep(piece))) break;
      this.#bytesSeen += piece.length;
      rest = rest.subarray(piece.length);
    }
    this.#bytesSeen += rest.length;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** Bytes that still fit where the next byte goes. */
  #room(): number {
    const { headBytes, segmentBytes } = this.#layout;
    const after = this.#bytesSeen - headBytes;
    return after < 0 ? -after : segmentBytes - (after % segmentBytes);
  }

  #keep(piece: Uint8Array): void {
    const { headBytes, tailBytes, segmentBytes } = this.#layout;
    const after = this.#bytesSeen - headBytes;
    const index = after < 0 ? -1 : Math.floor(after / segmentBytes);
    if (index >= 0 && tailBytes === 0) return;
    if (index !== this.#index) this.#open(index);
    for (let done = 0; done < piece.length;) done += writeSync(this.#file ?? -1, piece, done);
    // The oldest segment goes when what comes after it is a whole tail.
    while (after + piece.length - (this.#oldest + 1) * segmentBytes >= tailBytes) {
      unlinkSync(segmentPath(this.#dir, this.name, this.#oldest));
      this.#oldest += 1;
    }
  }

  #open(index: number): void {
    this.close();
    this.#file = openSync(segmentPath(this.#dir, this.name, index), 'w', 0o600);
    this.#index = index;
  }

  #attempt(effect: () => void): boolean {
    try {
      effect();
      return true;
    } catch (error) {
      this.#problem = `After ${this.#bytesSeen} bytes ${this.name} could not be kept: ${error instanceof Error ? error.message : String(error)}.`;
      return false;
    }
  }
}
