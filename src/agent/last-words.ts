import { cutMiddle, plainText } from '../core/text.ts';

// The note that cutMiddle adds must fit as well.
const lettersMax = 16_000;
const lettersKept = lettersMax - 100;

/** What an agent said, as it may be stored and shown: plain, well-formed, at most 16,000 letters with the note about the cut. */
export const lastWords = (text: string): string => cutMiddle(plainText(text).toWellFormed().trim(), lettersKept);

/** The newest lines of a stream, at most about 16,000 letters of them, whatever its length. */
export class TailOfLines {
  readonly #lines: string[] = [];
  #letters = 0;
  #dropped = 0;

  add(line: string): void {
    const plain = plainText(line).slice(-lettersKept);
    this.#lines.push(plain);
    this.#letters += plain.length + 1;
    while (this.#letters > lettersKept && this.#lines.length > 1) {
      this.#letters -= (this.#lines.shift() ?? '').length + 1;
      this.#dropped += 1;
    }
  }

  text(): string {
    const note = this.#dropped === 0 ? '' : `[... ${this.#dropped} earlier lines left out by Gyre ...]\n`;
    return lastWords(note + this.#lines.join('\n'));
  }
}
