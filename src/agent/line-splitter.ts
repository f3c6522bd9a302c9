/** One line of an agent's stream, or the news that one was too long to keep. */
export type StreamLine = { readonly kind: 'line'; readonly text: string } | { readonly kind: 'skipped'; readonly bytes: number };

/** Longest line that is read. A line of JSON holds at most one file an agent wrote or read. */
export const lineBytesMax = 8 * 1024 * 1024;

const lineFeed = 0x0a;

/**
 * Cuts a byte stream into lines at line feeds alone. Bytes are decoded when their line is complete, so a letter that was cut between two
 * reads is whole again (in UTF-8 no part of a longer letter is a line feed). Bytes that are no UTF-8 become U+FFFD; nothing throws.
 * Holds at most one line of `lineBytes`.
 */
export class LineSplitter {
  readonly #lineBytes: number;
  readonly #decoder = new TextDecoder('utf-8');
  #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(lineBytes: number = lineBytesMax) {
    this.#lineBytes = lineBytes;
  }

  /** The lines that this chunk completes, in order. The chunk is copied where it must be kept. */
  push(chunk: Uint8Array): readonly StreamLine[] {
    const lines: StreamLine[] = [];
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
      this.#hold(chunk.subarray(from, at));
      lines.push(this.#take());
      from = at + 1;
    }
    // Only this outlives the call, and the chunk is the caller's.
    this.#hold(chunk.slice(from));
    return lines;
  }

  /** The last line, where the stream ended without a line feed. */
  end(): readonly StreamLine[] {
    return this.#bytes === 0 ? [] : [this.#take()];
  }

  #hold(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    if (this.#bytes > this.#lineBytes) this.#parts = [];
    else this.#parts.push(part);
  }

  #take(): StreamLine {
    const bytes = this.#bytes;
    const parts = this.#parts;
    this.#parts = [];
    this.#bytes = 0;
    if (bytes > this.#lineBytes) return { kind: 'skipped', bytes };
    const text = this.#decoder.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    return { kind: 'line', text: text.endsWith('\r') ? text.slice(0, -1) : text };
  }
}
