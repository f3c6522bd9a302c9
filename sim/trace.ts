// What happened, in order: the last lines for people, and one hash over all of them (P11).
import { createHash } from 'node:crypto';

const linesKept = 400;

export interface Trace {
  say(line: string): void;
  /** The newest lines, oldest first. */
  last(count: number): readonly string[];
  /** SHA-256 of every line so far and of what is given with them. */
  hash(more: string): string;
}

/** @param stamp what stands before each line; `show` sees every line as it comes */
export const createTrace = (stamp: () => string, show?: (line: string) => void): Trace => {
  const hash = createHash('sha256');
  let lines: string[] = [];
  return {
    say: (text) => {
      const line = `${stamp()} ${text}`;
      hash.update(`${line}\n`);
      show?.(line);
      lines.push(line);
      if (lines.length > 2 * linesKept) lines = lines.slice(-linesKept);
    },
    last: (count) => lines.slice(-count),
    hash: (more) => hash.copy().update(more).digest('hex'),
  };
};
