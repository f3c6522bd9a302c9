import type { TestResult } from './test-report.ts';
import type { CheckObservation } from './verdict.ts';

/** What a test did on base over all runs. `mixed`: not the same in every run, which is what flaky means; absence from a run counts. */
export type BaseStatus = 'passed' | 'failed' | 'skipped' | 'mixed';

/** Tests of one observation; none where no report was readable. */
export const testsOf = (observation: CheckObservation): readonly TestResult[] =>
  observation.report.read === 'yes' ? observation.report.tests : [];

/** Tests that really ran: a skipped test says nothing about the code. */
export const executedOf = (observation: CheckObservation): number =>
  testsOf(observation).filter((test) => test.outcome !== 'skipped').length;

/** Test id to what it did on base, for every test seen in any run. */
export const baseStatuses = (runs: readonly CheckObservation[]): ReadonlyMap<string, BaseStatus> => {
  const statuses = new Map<string, BaseStatus>();
  const seenIn = new Map<string, number>();
  for (const run of runs) {
    for (const { id, outcome } of testsOf(run)) {
      const before = statuses.get(id);
      statuses.set(id, before === undefined || before === outcome ? outcome : 'mixed');
      seenIn.set(id, (seenIn.get(id) ?? 0) + 1);
    }
  }
  for (const [id, count] of seenIn) if (count !== runs.length) statuses.set(id, 'mixed');
  return statuses;
};

/**
 * True for the entry a runner makes for a file as a whole when the file could not be loaded: its name is a path. Once the file loads, that
 * entry is replaced by the tests inside, so its absence is not the absence of a test.
 */
export const isFileEntry = (test: TestResult): boolean =>
  /^\S+\.\w{1,5}$/.test(test.name) && (test.file === undefined || test.file.endsWith(test.name) || test.name.endsWith(test.file));
