import type { TestOutcome, TestResult } from '../../core/test-report.ts';
import { relativeFile, withoutFolder } from './clean-paths.ts';

/** A test as a reader found it, before it has an id. */
export interface FoundTest {
  /** As the runner wrote it, or `undefined` where it names none or names it only for some outcomes. It becomes part of the id. */
  readonly file: string | undefined;
  /** Suites from the outside in, then the name. Empty for a failure of the file as a whole. */
  readonly path: readonly string[];
  readonly outcome: TestOutcome;
  readonly message: string;
  /** A file that is known for this outcome only: shown, never part of the id, because the id of a green test must equal that of a red one. */
  readonly seenIn?: string | undefined;
}

const oneSpace = (text: string): string => text.replace(/\s+/g, ' ').trim();

/**
 * Gives every test its id: `<file> > <suite> > <name>`, the second of the same id ` #2`, in the order of the report.
 */
export const nameTests = (found: readonly FoundTest[], cwd: string | undefined): readonly TestResult[] => {
  const counts = new Map<string, number>();
  return found.map((test) => {
    const file = test.file === undefined ? undefined : relativeFile(test.file, cwd);
    const path = test.path.map((part) => oneSpace(withoutFolder(part, cwd)));
    const whole = [...(file === undefined ? [] : [file]), ...path].join(' > ') || '(no name)';
    const count = (counts.get(whole) ?? 0) + 1;
    counts.set(whole, count);
    const seenIn = test.seenIn === undefined ? undefined : relativeFile(test.seenIn, cwd);
    return {
      id: count === 1 ? whole : `${whole} #${count}`,
      name: path.at(-1) ?? file ?? whole,
      file: file ?? seenIn,
      outcome: test.outcome,
      message: test.outcome === 'failed' ? withoutFolder(test.message, cwd).trim() : '',
    };
  });
};
