import { appendFileSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { plainText } from '../core/text.ts';

export interface RotatingLog {
  /** One line; time and line break are added, control characters made visible. Never throws: a full disk must not end the engine. */
  write(text: string): void;
  /** Lines that could not be written since the last one that could. */
  readonly lost: number;
}

/**
 * A text log of bounded size: when the file would grow beyond `maxBytes` it becomes `<file>.1`, the older ones move up, the oldest goes.
 * @param options `keep` is the number of older files
 */
export const createRotatingLog = (options: {
  readonly file: string;
  readonly maxBytes: number;
  readonly keep: number;
  readonly clock: () => number;
}): RotatingLog => {
  const { file, maxBytes, keep, clock } = options;
  let lost = 0;

  const rotate = (): void => {
    rmSync(`${file}.${keep}`, { force: true });
    for (let age = keep - 1; age >= 1; age -= 1) moveIfThere(`${file}.${age}`, `${file}.${age + 1}`);
    moveIfThere(file, `${file}.1`);
  };

  const append = (line: string): void => {
    const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > 0 && bytes + Buffer.byteLength(line) > maxBytes) rotate();
    appendFileSync(file, line, { mode: 0o600 });
  };

  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  return {
    get lost() {
      return lost;
    },
    write: (text) => {
      const time = new Date(clock()).toISOString();
      try {
        if (lost > 0) append(`${time} ${lost} lines before this one could not be written.\n`);
        append(`${time} ${plainText(text).replaceAll('\n', '\\n')}\n`);
        lost = 0;
      } catch {
        lost += 1;
      }
    },
  };
};

const moveIfThere = (from: string, to: string): void => {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
};
