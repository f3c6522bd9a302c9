import { baseStatuses, executedOf, isFileEntry, isGreenByCount, isInside, testsOf } from './baseline-status.ts';
import { judgeOwnTest } from './judge-own-test.ts';
import { evidenceOf, failureTexts, named, times } from './judgement-text.ts';
import { testsCounted } from './test-counts.ts';
import type { Baseline, CheckObservation, FailureReason } from './verdict.ts';

/** What the task asks of this check: nothing of its own, one test, or the exit code. */
export type OwnProof = { readonly by: 'test'; readonly test: string } | { readonly by: 'command' } | undefined;

export interface Judgement {
  readonly reasons: readonly FailureReason[];
  /** What could not be judged, one sentence each. */
  readonly why: readonly string[];
  readonly notes: readonly string[];
  /** True when the observation as a whole says nothing, so that neither green nor red can be read from it. */
  readonly blocked: boolean;
  /** True when something was seen to work: exit code 0, or a test that passed. */
  readonly informative: boolean;
}

export interface JudgeRequest {
  readonly name: string;
  readonly base: Baseline;
  readonly observation: CheckObservation;
  readonly own: OwnProof;
}

const blocked = (why: string): Judgement => ({ reasons: [], why: [why], notes: [], blocked: true, informative: false });

const counted = (ids: readonly string[], word: string): string => `${ids.length} ${word}${ids.length === 1 ? '' : 's'}`;

/** A sentence when the observation cannot be read at all, for base runs and candidate alike (L2). */
const unreadable = (observation: CheckObservation, where: string): string | undefined => {
  if (observation.end !== 'ran') return `${where} did not run to its end (${observation.end}): ${observation.problem}`;
  if (observation.exitCode === null) return `${where} ended without an exit code.`;
  if (observation.report.read === 'broken')
    return `The test report of ${where} is broken (${observation.report.format}): ${observation.report.why}`;
  return undefined;
};

/** A sentence when a check without a report says itself that it ran fewer tests than on base, or no longer says how many. */
const fewerTests = ({ name, base, observation }: JudgeRequest): string | undefined => {
  const counts = base.runs.map((run) => testsCounted(run.output) ?? 0);
  const baseline = Math.min(...counts);
  const now = testsCounted(observation.output);
  if (baseline === 0 || (now !== undefined && now >= baseline)) return undefined;
  const said = now === undefined ? `says no longer how many tests it ran` : `ran ${now} ${now === 1 ? 'test' : 'tests'}`;
  return `${now ?? 0} tests, baseline ${baseline}: check "${name}" ${said} on the candidate.`;
};

/** Exit codes alone: what a check says that names no tests. */
const judgeExitCode = ({ name, base, observation, own }: JudgeRequest): Judgement => {
  const red = base.runs.filter((run) => run.exitCode !== 0).length;
  const runs = base.runs.length;
  const green = observation.exitCode === 0;
  const output = evidenceOf(observation, observation.output);
  const failing = [`check ${name}`];
  const result = (part: Partial<Judgement>): Judgement => ({
    reasons: [],
    why: [],
    notes: [],
    blocked: false,
    informative: green,
    ...part,
  });
  if (own !== undefined) {
    const why =
      red === runs
        ? []
        : [`Check "${name}" is not red on base (exit code 0 in ${times(runs - red, runs)}), so a green one proves nothing.`];
    if (green) return result({ why });
    const sentence = `Check "${name}" is still red: exit code ${observation.exitCode}.`;
    return result({ why, reasons: [{ kind: 'task-still-red', sentence, failing, evidence: output }] });
  }
  if (green) return result({});
  if (red === 0) {
    const sentence = `Check "${name}" is red on the candidate (exit code ${observation.exitCode}) and green on base.`;
    return result({ reasons: [{ kind: 'check-red', sentence, failing, evidence: output }] });
  }
  if (red === runs) return result({ notes: [`Old failure: check "${name}" is red on base too (exit code ${observation.exitCode}).`] });
  return result({ why: [`Check "${name}" is flaky on base (red in ${times(red, runs)}) and red on the candidate.`] });
};

/** The exit code of a check whose tests could be read: it may know of something that no test names. */
const judgeExitBesideTests = (request: JudgeRequest, failedIds: readonly string[]): readonly FailureReason[] => {
  const { name, base, observation } = request;
  if (observation.exitCode === 0) return [];
  const unexplainedOnBase = base.runs.every((run) => run.exitCode !== 0 && !testsOf(run).some((test) => test.outcome === 'failed'));
  const greenOnBase = base.runs.every((run) => run.exitCode === 0);
  if (!greenOnBase && (failedIds.length > 0 || unexplainedOnBase)) return [];
  const than = greenOnBase ? ' and 0 on base' : ', and the failed tests that explained it on base are gone';
  const sentence = `Check "${name}" ends with exit code ${observation.exitCode} on the candidate${than}.`;
  return [{ kind: 'check-red', sentence, failing: [`check ${name}`], evidence: evidenceOf(observation, observation.output) }];
};

/** Tests beside the task's own: what base had green must be green, and what is new must not be red. */
const judgeOtherTests = (request: JudgeRequest): Pick<Judgement, 'reasons' | 'notes'> => {
  const { name, base, observation, own } = request;
  const ownTest = own?.by === 'test' ? own.test : undefined;
  const statuses = baseStatuses(base.runs);
  const tests = testsOf(observation);
  const now = new Map(tests.map((test) => [test.id, test.outcome]));
  const failed = [...now].filter(([id, outcome]) => outcome === 'failed' && id !== ownTest).map(([id]) => id);
  // What stood red around tests on base kept them from running there: what they show now is old, not new.
  const redOnBase = base.runs.flatMap((run) => testsOf(run).filter((test) => statuses.get(test.id) === 'failed'));
  const around = redOnBase.filter((test) => test.id !== ownTest);
  const uncovered = tests
    .filter((test) => test.outcome === 'failed' && !statuses.has(test.id) && around.some((entry) => isInside(test, entry)))
    .map((test) => test.id);
  const broken = failed.filter((id) => !['failed', 'mixed'].includes(statuses.get(id) ?? '') && !uncovered.includes(id));
  const lost = [...statuses].filter(([id, status]) => status === 'passed' && (now.get(id) ?? 'skipped') === 'skipped').map(([id]) => id);
  const old = failed.filter((id) => statuses.get(id) === 'failed');
  const flaky = failed.filter((id) => statuses.get(id) === 'mixed');
  const absent = isGreenByCount(base.runs, observation) ? [] : redOnBase;
  const hidden = absent
    .filter((test) => test.id !== ownTest && (now.get(test.id) ?? 'skipped') === 'skipped')
    .filter((test) => !isFileEntry(test) && !tests.some((other) => isInside(other, test)))
    .map((test) => test.id);
  const vanished = [...new Set(hidden)];
  const reasons: FailureReason[] = [];
  if (broken.length > 0) {
    const sentence = `Newly failing in check "${name}": ${counted(broken, 'test')}: ${named(broken)}.`;
    reasons.push({ kind: 'newly-failing', sentence, failing: broken.toSorted(), evidence: failureTexts(observation, broken) });
  }
  if (lost.length > 0) {
    const sentence = `Vanished from check "${name}": ${counted(lost, 'test')} that passed on base and did not run on the candidate: ${named(lost)}.`;
    reasons.push({ kind: 'newly-failing', sentence, failing: lost.toSorted(), evidence: evidenceOf(observation, observation.output) });
  }
  // Where the exit code is the proof, a red test that is no longer run is how a red check is made green without repairing anything.
  const hides = own?.by === 'command' && observation.exitCode === 0;
  if (vanished.length > 0 && hides) {
    const sentence = `Red on base and no longer run in check "${name}": ${counted(vanished, 'test')}: ${named(vanished)}.`;
    reasons.push({ kind: 'cheat', sentence, failing: vanished.toSorted(), evidence: evidenceOf(observation, observation.output) });
  }
  const notes: string[] = [];
  if (uncovered.length > 0)
    notes.push(`Red in check "${name}" and kept from running on base by what was red around them: ${named(uncovered)}.`);
  if (old.length > 0) notes.push(`Old failures in check "${name}" (red on base too): ${named(old)}.`);
  if (flaky.length > 0) notes.push(`Flaky in check "${name}" (sometimes red on base): ${named(flaky)}.`);
  if (vanished.length > 0 && !hides) notes.push(`Red on base and no longer run in check "${name}": ${named(vanished)}.`);
  return { reasons, notes };
};

/**
 * Reads one observation of one check against base. Pure.
 *
 * Where a test report is readable the tests decide and the exit code may only add bad news; where none is, the exit code decides.
 */
export const judgeCheck = (request: JudgeRequest): Judgement => {
  const { name, base, observation, own } = request;
  if (base.runs.length === 0) return blocked(`Check "${name}" was never run on base.`);
  for (const run of base.runs) {
    const problem = unreadable(run, `check "${name}" on base`);
    if (problem !== undefined) return blocked(problem);
  }
  const problem = unreadable(observation, `check "${name}" on the candidate`);
  if (problem !== undefined) return blocked(problem);

  const baseline = Math.max(...base.runs.map((run) => executedOf(run)));
  if (baseline > 0 && executedOf(observation) === 0)
    return blocked(`0 tests, baseline ${baseline}: check "${name}" executed no test on the candidate.`);
  if (observation.report.read !== 'yes') {
    if (own?.by === 'test') return blocked(`Check "${name}" gave no readable test report, so test "${own.test}" was not seen.`);
    const fewer = observation.exitCode === 0 ? fewerTests(request) : undefined;
    if (fewer !== undefined) return blocked(fewer);
    return judgeExitCode(request);
  }
  const failed = testsOf(observation).filter((test) => test.outcome === 'failed');
  if (failed.length > 0 && observation.exitCode === 0)
    return blocked(`Check "${name}" contradicts itself on the candidate: ${failed.length} failed in its report, exit code 0.`);

  const others = judgeOtherTests(request);
  const informative = observation.exitCode === 0 || testsOf(observation).some((test) => test.outcome === 'passed');
  if (own?.by === 'command') {
    const exit = judgeExitCode(request);
    return { ...exit, reasons: [...exit.reasons, ...others.reasons], notes: others.notes, informative };
  }
  const ownTest = own === undefined ? { reasons: [], why: [], notes: [] } : judgeOwnTest(request, own.test);
  const exit = judgeExitBesideTests(
    request,
    failed.map((test) => test.id),
  );
  return {
    reasons: [...ownTest.reasons, ...others.reasons, ...exit],
    why: ownTest.why,
    notes: [...ownTest.notes, ...others.notes],
    blocked: false,
    informative,
  };
};
