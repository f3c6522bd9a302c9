// Observations made by hand, for tables over pure decisions.
import { commitSha, evidenceHash } from '../../src/core/ids.ts';
import type { TestOutcome, TestReport } from '../../src/core/test-report.ts';
import type { CheckObservation, CheckOnCandidate } from '../../src/core/verdict.ts';

/** `a+ b- c~`: passed, failed, skipped. */
export const report = (text: string): TestReport => ({
  read: 'yes',
  format: 'tap',
  tests: text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const id = word.slice(0, -1);
      const outcome: TestOutcome = word.endsWith('+') ? 'passed' : word.endsWith('-') ? 'failed' : 'skipped';
      return { id, name: id, file: undefined, outcome, message: outcome === 'failed' ? `${id} broke` : '' };
    }),
});

/** `tests` as in `report`, `undefined` for none readable; `exit` defaults to what the tests say. */
export const ran = (tests: string | undefined, exit?: number, more: Partial<CheckObservation> = {}): CheckObservation => ({
  command: 'npm test',
  cwd: '/room',
  end: 'ran',
  exitCode: exit ?? (tests?.includes('-') === true ? 1 : 0),
  signal: null,
  durationMs: 5,
  report: tests === undefined ? { read: 'no-format' } : report(tests),
  output: 'output text',
  outputHash: evidenceHash('0'.repeat(64)),
  problem: '',
  ...more,
});

export const onCandidate = (
  base: readonly CheckObservation[],
  candidate: CheckObservation,
  pinned?: CheckObservation,
): CheckOnCandidate => ({
  name: 'tests',
  command: 'npm test',
  base: { commit: commitSha('1'.repeat(40)), runs: base },
  candidate,
  pinned,
  pinnedFiles: pinned === undefined ? [] : ['test/a.test.js'],
});
