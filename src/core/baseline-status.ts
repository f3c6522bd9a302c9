import { unnamedTest, type TestResult } from './test-report.ts';
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

/** Takes off the ` #2` that tells tests of one name apart. */
const withoutCount = (id: string): string => id.replace(/ #\d+$/, '');

/**
 * True for the entry a runner makes for a file as a whole when the file could not be loaded: it has no name but its file, or, where a
 * report names no files at all, a path for a name. Once the file loads, that entry is replaced by the tests inside, so its absence is not
 * the absence of a test.
 */
export const isFileEntry = (test: TestResult): boolean =>
  test.file === undefined ? /^\S+\.\w{1,5}$/.test(test.name) : withoutCount(test.id) === test.file;

/** True for a test of the suite, package or file that `entry` names. */
export const isInside = (test: TestResult, entry: TestResult): boolean =>
  test.id !== entry.id &&
  (test.id.startsWith(`${withoutCount(entry.id)} > `) || (isFileEntry(entry) && test.file === entry.file && test.file !== undefined));

export const isUnnamed = (test: TestResult): boolean => test.name === unnamedTest;

/**
 * Whether a test that is not in this report may have passed: the report names red tests only, and no fewer tests ran than on base. One that
 * was deleted or skipped is missing from the count.
 */
export const isGreenByCount = (base: readonly CheckObservation[], observation: CheckObservation): boolean =>
  testsOf(observation).some((test) => isUnnamed(test)) && executedOf(observation) >= Math.max(...base.map((run) => executedOf(run)));
