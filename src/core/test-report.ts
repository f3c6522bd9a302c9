// What a test command said, whatever runner it is. Read by discovery (what is red) and by the verdict (is it green now).

export type TestOutcome = 'passed' | 'failed' | 'skipped';

export interface TestResult {
  /** Stable over runs of the same code: `<file> > <suite> > <name>` with `/` in paths, relative to the command's folder; no line numbers, no
   * durations. Where a runner names no file the id starts with the suite. Two tests of the same name in one file get ` #2`, ` #3`. */
  readonly id: string;
  readonly name: string;
  readonly file: string | undefined;
  readonly outcome: TestOutcome;
  /** The failure text, plain (no terminal codes), not cut; empty unless failed. */
  readonly message: string;
}

/** Name of a test that ran and passed although its runner did not say which it was (pytest without `-rA`). Red tests are always named. */
export const unnamedTest = '(unnamed test)';

export type ReportFormat = 'tap' | 'node-spec' | 'jest-json' | 'junit' | 'pytest' | 'go-json' | 'cargo';

export type TestReport =
  | { readonly read: 'yes'; readonly format: ReportFormat; readonly tests: readonly TestResult[] }
  /** No known format was recognised: only the exit code speaks. */
  | { readonly read: 'no-format' }
  /** A format was recognised but the text breaks off or contradicts itself. Never a pass (L2). */
  | { readonly read: 'broken'; readonly format: ReportFormat; readonly why: string };

export const testsWith = (report: TestReport, outcome: TestOutcome): readonly TestResult[] =>
  report.read === 'yes' ? report.tests.filter((test) => test.outcome === outcome) : [];
