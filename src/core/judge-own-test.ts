import { baseStatuses, executedOf, isFileEntry, isGreenByCount, isInside, isUnnamed, testsOf } from './baseline-status.ts';
import { evidenceOf, failureTexts, named, times } from './judgement-text.ts';
import type { TestResult } from './test-report.ts';
import type { Baseline, CheckObservation, FailureReason } from './verdict.ts';

export interface OwnTestRequest {
  readonly name: string;
  readonly base: Baseline;
  readonly observation: CheckObservation;
}

export interface OwnTestJudgement {
  readonly reasons: readonly FailureReason[];
  /** What could not be judged, one sentence each. */
  readonly why: readonly string[];
  readonly notes: readonly string[];
}

const green: OwnTestJudgement = { reasons: [], why: [], notes: [] };

/** Whether the report says of every green test which file it is in. Cargo names the file of a binary, not the one a test stands in. */
const namesFiles = (observation: CheckObservation): boolean => {
  const passed = testsOf(observation).filter((test) => test.outcome === 'passed');
  const isCargo = observation.report.read === 'yes' && observation.report.format === 'cargo';
  return !isCargo && passed.length > 0 && passed.every((test) => test.file !== undefined);
};

/**
 * The tests that stand in the place of `entry` on the candidate. An entry for a suite, a package or a file goes away with its trouble, and
 * the tests inside appear: by their id, by their file, or, where the runner names no files, as tests that base did not have.
 */
const insteadOf = (entry: TestResult, { base, observation }: OwnTestRequest): readonly TestResult[] => {
  const inside = testsOf(observation).filter((test) => isInside(test, entry));
  if (inside.length > 0 || !isFileEntry(entry) || namesFiles(observation)) return inside;
  const known = baseStatuses(base.runs);
  return testsOf(observation).filter((test) => !known.has(test.id));
};

/** What to say of a test that base had red and that the candidate's report does not list. */
const judgeGone = (request: OwnTestRequest, entry: TestResult): OwnTestJudgement => {
  const { name, base, observation } = request;
  const instead = insteadOf(entry, request);
  const red = instead.filter((test) => test.outcome === 'failed').map((test) => test.id);
  if (red.length > 0) {
    const sentence = `"${entry.id}" runs now in check "${name}", but what is inside is red: ${named(red)}.`;
    return { ...green, reasons: [{ kind: 'task-still-red', sentence, failing: red.toSorted(), evidence: failureTexts(observation, red) }] };
  }
  if (instead.some((test) => test.outcome === 'passed' && !isUnnamed(test))) return green;

  if (isGreenByCount(base.runs, observation)) {
    const note = `The report of check "${name}" does not name the tests that pass. "${entry.id}" is not among the failed, and no fewer tests ran than on base (${executedOf(observation)}), so it counts as green. Add -rA to the pytest command to have it named.`;
    return { ...green, notes: [note] };
  }
  if (observation.exitCode === 0 && isFileEntry(entry))
    return { ...green, why: [`The entry "${entry.id}" is gone on the candidate and no new test ran, so nothing shows that it works.`] };
  // Gone in a red run is a break (a file that no longer parses takes its tests along); gone in a green one hides what was red.
  const sentence = `Test "${entry.id}" was red on base and is gone on the candidate (exit code ${observation.exitCode}): it was not executed.`;
  const kind = observation.exitCode === 0 ? 'cheat' : 'task-still-red';
  return { ...green, reasons: [{ kind, sentence, failing: [entry.id], evidence: evidenceOf(observation, observation.output) }] };
};

/** The task's own test: red in every run of base, and green on the candidate whatever else is still red there. Pure. */
export const judgeOwnTest = (request: OwnTestRequest, test: string): OwnTestJudgement => {
  const { name, base, observation } = request;
  const onBase = base.runs.map((run) => testsOf(run).find(({ id }) => id === test));
  const red = onBase.filter((result) => result?.outcome === 'failed');
  const entry = red.at(-1);
  if (entry === undefined || red.length !== base.runs.length) {
    const sentence = `Test "${test}" is not red on base (failed in ${times(red.length, base.runs.length)}), so a green one proves nothing.`;
    return { ...green, why: [sentence] };
  }
  const now = testsOf(observation).find(({ id }) => id === test);
  if (now === undefined) return judgeGone(request, entry);
  if (now.outcome === 'passed') return green;
  if (now.outcome === 'skipped') return { ...green, why: [`Test "${test}" was not executed on the candidate: it is skipped.`] };
  const sentence = `Test "${test}" is still red in check "${name}".`;
  return { ...green, reasons: [{ kind: 'task-still-red', sentence, failing: [test], evidence: failureTexts(observation, [test]) }] };
};
