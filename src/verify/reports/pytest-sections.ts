const banner = /^=+ (.+?) =+$/;
const heading = /^_+ (.+?) _+$/;
const lineLetters = 2_000;

export interface FailureSections {
  /** Whether the line at this index stands in a section of failures, errors or passes: it is text of a test, no statement of pytest. */
  readonly inside: (at: number) => boolean;
  /** The next unread text of a test: `dotted` is its name without the file, empty for a file that could not be collected. */
  readonly messageOf: (file: string, dotted: string) => string;
}

const isSection = (title: string): boolean => title === 'FAILURES' || title === 'ERRORS' || title === 'PASSES';

/** Reads the sections `= FAILURES =` and `= ERRORS =`: a heading `___ Group.test ___`, then the text. */
export const readFailureSections = (lines: readonly string[]): FailureSections => {
  const within = new Set<number>();
  const texts = new Map<string, string[][]>();
  let isOpen = false;
  let text: string[] = [];
  for (const [at, line] of lines.entries()) {
    const short = line.length <= lineLetters;
    const title = short && line.startsWith('=') ? banner.exec(line)?.[1] : undefined;
    if (title !== undefined && (isSection(title) || title === 'short test summary info')) {
      isOpen = isSection(title);
      text = [];
      continue;
    }
    if (!isOpen) continue;
    within.add(at);
    const name = short && line.startsWith('_') ? heading.exec(line)?.[1] : undefined;
    if (name === undefined) {
      text.push(line);
      continue;
    }
    text = [];
    const key = name.replace(/^ERROR (?:at setup of|at teardown of|collecting) /, '');
    const same = texts.get(key) ?? [];
    texts.set(key, same);
    same.push(text);
  }
  return {
    inside: (at) => within.has(at),
    messageOf: (file, dotted) => (texts.get(dotted === '' ? file : dotted)?.shift() ?? []).join('\n').trim(),
  };
};
