import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideVerdict, type VerdictInput } from '../../src/core/decide-verdict.ts';
import type { TaskProof } from '../../src/core/task.ts';
import type { CheckObservation, CheckOnCandidate, GuardFinding, Verdict } from '../../src/core/verdict.ts';
import { onCandidate, ran } from './observations.ts';

const byTest: TaskProof = { by: 'test', command: 'npm test', test: 'a', file: undefined };
const byCommand: TaskProof = { by: 'command', command: 'npm test' };
const byChecks: TaskProof = { by: 'checks' };

const decide = (proof: TaskProof, checks: readonly CheckOnCandidate[], more: Partial<VerdictInput> = {}): Verdict =>
  decideVerdict({ proof, checks, guards: [], notes: [], ...more });

/** `pass`, `fail cheat newly-failing`, `inconclusive` or `inconclusive task-still-red`. */
const short = (verdict: Verdict): string =>
  [verdict.verdict, ...(verdict.verdict === 'pass' ? [] : verdict.reasons.map((reason) => reason.kind).toSorted())].join(' ');

const red = [ran('a- b+'), ran('a- b+')];
const redCode = [ran(undefined, 1), ran(undefined, 1)];
const greenCode = [ran(undefined, 0), ran(undefined, 0)];
const killed = ran(undefined, 0, { end: 'killed', exitCode: null, problem: 'It was ended by SIGKILL.' });
const broken = ran('a+ b+', 0, { report: { read: 'broken', format: 'tap', why: 'cut' } });

type Row = readonly [fact: string, proof: TaskProof, base: readonly CheckObservation[], candidate: CheckObservation, want: string];

const rows: readonly Row[] = [
  ['a red test that is green passes', byTest, red, ran('a+ b+'), 'pass'],
  ['a red test that is red still fails', byTest, red, ran('a- b+'), 'fail task-still-red'],
  ['a test that was never red proves nothing', byTest, [ran('a+ b+')], ran('a+ b+'), 'inconclusive'],
  ['a test red in one of two base runs proves nothing', byTest, [ran('a- b+'), ran('a+ b+')], ran('a+ b+'), 'inconclusive'],
  ['a test missing from base proves nothing', byTest, [ran('b+')], ran('a+ b+'), 'inconclusive'],
  ['a skipped test was not executed', byTest, red, ran('a~ b+'), 'inconclusive'],
  ['a test that vanished from a green run is a cheat', byTest, red, ran('b+'), 'fail cheat'],
  ['a test that vanished from a red run is still red', byTest, red, ran('b+ c-'), 'fail newly-failing task-still-red'],
  ['a neighbour that broke is newly failing', byTest, red, ran('a+ b-'), 'fail newly-failing'],
  ['a neighbour that vanished is newly failing', byTest, red, ran('a+'), 'fail newly-failing'],
  ['a neighbour that is skipped now is newly failing', byTest, red, ran('a+ b~'), 'fail newly-failing'],
  ['a new test that fails is newly failing', byTest, red, ran('a+ b+ c-'), 'fail newly-failing'],
  ['a new test that passes is welcome', byTest, red, ran('a+ b+ c+'), 'pass'],
  ['a test skipped on base and failing now is newly failing', byTest, [ran('a- b~')], ran('a+ b-'), 'fail newly-failing'],
  ['an old failure does not stop the task', byTest, [ran('a- b+ c-')], ran('a+ b+ c-'), 'pass'],
  ['a neighbour that base ran only sometimes may be absent', byTest, [ran('a- b+'), ran('a- b+ c+')], ran('a+ b+'), 'pass'],
  ['a flaky neighbour does not stop the task', byTest, [ran('a- b+'), ran('a- b-')], ran('a+ b-'), 'pass'],
  ['exit code 1 with all tests green is red', byTest, red, ran('a+ b+', 1), 'fail check-red'],
  [
    'exit code 2 with all tests green is red where failed tests explained it on base',
    byTest,
    [ran('a- b+')],
    ran('a+ b+', 2),
    'fail check-red',
  ],
  ['exit code 0 with a failed test contradicts itself', byTest, red, ran('a- b+', 0), 'inconclusive'],
  ['a command killed is inconclusive', byTest, red, killed, 'inconclusive'],
  ['a broken report is inconclusive', byTest, red, broken, 'inconclusive'],
  ['a base that did not run is inconclusive', byTest, [killed], ran('a+ b+'), 'inconclusive'],
  ['a base with a broken report is inconclusive', byTest, [broken], ran('a+ b+'), 'inconclusive'],
  ['no base run is inconclusive', byTest, [], ran('a+ b+'), 'inconclusive'],
  ['no report is inconclusive for a test', byTest, redCode, ran(undefined, 0), 'inconclusive'],
  ['VER-01 a report that went missing is inconclusive', byTest, red, ran(undefined, 0), 'inconclusive'],
  ['VER-01 no test executed is inconclusive', byTest, red, ran('', 0), 'inconclusive'],
  ['VER-01 all tests skipped is inconclusive', byTest, red, ran('a~ b~', 0), 'inconclusive'],

  ['a red command that is green passes', byCommand, redCode, ran(undefined, 0), 'pass'],
  ['a red command that is red fails', byCommand, redCode, ran(undefined, 7), 'fail task-still-red'],
  ['a command green on base proves nothing', byCommand, greenCode, ran(undefined, 0), 'inconclusive'],
  ['a command red in one base run proves nothing', byCommand, [ran(undefined, 0), ran(undefined, 1)], ran(undefined, 0), 'inconclusive'],
  ['a red test hidden to make a command green is a cheat', byCommand, red, ran('b+'), 'fail cheat'],
  ['a red test skipped to make a command green is a cheat', byCommand, red, ran('a~ b+'), 'fail cheat'],
  ['a command with tests that is green passes', byCommand, red, ran('a+ b+'), 'pass'],
  ['a command with tests that lost a green one fails', byCommand, red, ran('a+'), 'fail newly-failing'],
  ['a command killed is inconclusive too', byCommand, redCode, killed, 'inconclusive'],

  ['checks that stay green pass', byChecks, greenCode, ran(undefined, 0), 'pass'],
  ['a check that turns red fails', byChecks, greenCode, ran(undefined, 1), 'fail check-red'],
  ['a check red before and after alone proves nothing', byChecks, redCode, ran(undefined, 1), 'inconclusive'],
  [
    'a check flaky on base and red now is inconclusive',
    byChecks,
    [ran(undefined, 0), ran(undefined, 1)],
    ran(undefined, 1),
    'inconclusive',
  ],
  ['a check red before with tests that pass carries on', byChecks, red, ran('a- b+'), 'pass'],
  ['a check whose exit code turns red with green tests fails', byChecks, [ran('a+')], ran('a+', 1), 'fail check-red'],
  ['a check red beside green tests on base stays an old failure', byChecks, [ran('a+', 1)], ran('a+', 1), 'pass'],
  ['no readable report on both sides leaves the exit code', byChecks, greenCode, ran('a+'), 'pass'],
  ['a report that appears with a failing test fails', byChecks, greenCode, ran('a-'), 'fail check-red newly-failing'],
];

describe('the table', () => {
  test.each(rows)('VRD-01 %s', (_fact, proof, base, candidate, want) => {
    expect(short(decide(proof, [onCandidate(base, candidate)]))).toBe(want);
  });

  const pinnedRows: readonly (readonly [string, TaskProof, readonly CheckObservation[], CheckObservation, CheckObservation, string])[] = [
    ['green both ways passes', byTest, red, ran('a+ b+'), ran('a+ b+'), 'pass'],
    ['green only with own tests is a cheat', byTest, red, ran('a+ b+'), ran('a- b+'), 'fail cheat'],
    ['a skip hides what the base test shows', byTest, red, ran('a~ b+'), ran('a- b+'), 'fail cheat'],
    ['red both ways is an honest failure', byTest, red, ran('a- b+'), ran('a- b+'), 'fail task-still-red'],
    ['a neighbour edited into green is a cheat', byTest, red, ran('a+ b+'), ran('a+ b-'), 'fail cheat'],
    ['a pinned run that was killed is inconclusive', byTest, red, ran('a+ b+'), killed, 'inconclusive'],
    ['VER-01 nothing ran as committed, red when pinned', byTest, red, ran('', 0), ran('a- b+'), 'inconclusive task-still-red'],
    ['a command green only with own tests is a cheat', byCommand, redCode, ran(undefined, 0), ran(undefined, 1), 'fail cheat'],
    ['a check green only with own tests is a cheat', byChecks, greenCode, ran(undefined, 0), ran(undefined, 1), 'fail cheat'],
  ];
  test.each(pinnedRows)('CHT-01 pinned: %s', (_fact, proof, base, candidate, pinned, want) => {
    expect(short(decide(proof, [onCandidate(base, candidate, pinned)]))).toBe(want);
  });

  const guards: readonly (readonly [GuardFinding['guard'], string])[] = [
    ['protected-file', 'fail cheat'],
    ['gate-definition', 'fail cheat'],
    ['checkout-changed', 'fail cheat'],
    ['moved-refs', 'fail cheat'],
    ['unfinished-git-operation', 'fail unfinished'],
    ['empty-change', 'fail empty-change'],
  ];
  test.each(guards)('VRD-02 the guard %s refuses a candidate that is green in all else', (guard, want) => {
    const checks = [onCandidate(red, ran('a+ b+'))];
    const finding = { guard, paths: ['x'], sentence: 'Found.' };
    expect(short(decide(byTest, checks, { guards: [{ ...finding, weight: 'refuse' }] }))).toBe(want);
    expect(decide(byTest, checks, { guards: [{ ...finding, weight: 'note' }] })).toEqual({ verdict: 'pass', notes: ['Found.'] });
  });
});

describe('the words', () => {
  test('VER-01 the reason names how many tests ran and how many did on base', () => {
    const verdict = decide(byTest, [onCandidate(red, ran('', 0))]);
    expect(verdict.verdict === 'inconclusive' && verdict.why[0]).toMatch(/^0 tests, baseline 2/);
  });

  test('VRD-03 old and flaky failures are named in the notes of a pass', () => {
    const verdict = decide(byTest, [onCandidate([ran('a- b+ old-'), ran('a- b- old-')], ran('a+ b- old-'))]);
    expect(verdict).toEqual({
      verdict: 'pass',
      notes: ['Old failures in check "tests" (red on base too): "old".', 'Flaky in check "tests" (sometimes red on base): "b".'],
    });
  });

  test('VRD-04 evidence is cut and speaks of no clean room', () => {
    const output = `at /room/src/a.js\n${'x'.repeat(50_000)}`;
    const verdict = decide(byCommand, [onCandidate(redCode, ran(undefined, 1, { output }))]);
    const evidence = verdict.verdict === 'fail' ? (verdict.reasons[0]?.evidence ?? '') : '';
    expect(evidence.startsWith('at src/a.js\n')).toBe(true);
    expect(evidence).toContain('characters cut by Gyre');
    expect(evidence.length).toBeLessThan(8_100);
  });

  test('VRD-05 an inconclusive verdict still lists the failures that were seen', () => {
    const verdict = decide(byTest, [onCandidate(red, ran('a- b+')), { ...onCandidate(greenCode, killed), name: 'lint', command: 'lint' }]);
    expect(short(verdict)).toBe('inconclusive task-still-red');
  });

  test('VRD-06 a cheat fails also where something else could not be judged', () => {
    const guard: GuardFinding = { guard: 'protected-file', weight: 'refuse', paths: ['t'], sentence: 'Protected.' };
    const verdict = decide(byTest, [onCandidate(red, killed)], { guards: [guard] });
    expect(short(verdict)).toBe('fail cheat');
    expect(verdict.notes.join(' ')).toContain('did not run to its end');
  });

  test('VRD-07 a shell without pipefail is said in the notes', () => {
    const weak = ran('a+ b+', 0, { problem: 'No bash on PATH.' });
    expect(decide(byTest, [onCandidate(red, weak)]).notes).toEqual(['Check "tests": No bash on PATH.']);
  });

  test('L2 no check at all is inconclusive, and so is a task whose own command was not run', () => {
    expect(short(decide(byChecks, []))).toBe('inconclusive');
    expect(short(decide({ ...byCommand, command: './accept' }, [onCandidate(greenCode, ran(undefined, 0))]))).toBe('inconclusive');
  });

  test('VRD-08 the entry of a file that did not load is repaired when its tests appear and all is green', () => {
    const base = [ran('x.test.js- b+')];
    const proof: TaskProof = { ...byTest, test: 'x.test.js' };
    expect(short(decide(proof, [onCandidate(base, ran('adds+ b+'))]))).toBe('pass');
    expect(short(decide(proof, [onCandidate(base, ran('b+'))]))).toBe('inconclusive');
    expect(short(decide(proof, [onCandidate(base, ran('adds- b+'))]))).toBe('fail newly-failing task-still-red');
  });
});

const withRed = (o: CheckObservation): CheckObservation =>
  o.report.read === 'yes'
    ? {
        ...o,
        report: { ...o.report, tests: [...o.report.tests, { id: 'z', name: 'z', file: undefined, outcome: 'failed', message: 'z' }] },
      }
    : o;

const has = (o: CheckObservation, want: string): boolean =>
  o.report.read === 'yes' && o.report.tests.some((t) => t.id === 'a' && t.outcome === want);

/** Tests whose ids hold blanks, by id. */
const named = (pairs: Readonly<Record<string, '+' | '-'>>): CheckObservation => {
  const tests = Object.entries(pairs).map(([id, mark]) => ({
    id,
    name: id,
    file: undefined,
    outcome: mark === '+' ? ('passed' as const) : ('failed' as const),
    message: '',
  }));
  return { ...ran(''), exitCode: Object.values(pairs).includes('-') ? 1 : 0, report: { read: 'yes', format: 'tap', tests } };
};

test('VRD-08 the entry of a suite is repaired when its own tests are there and green', () => {
  const proof: TaskProof = { ...byTest, test: 'suite' };
  const base = [named({ suite: '-', 'suite > one': '+' })];
  expect(short(decide(proof, [onCandidate(base, named({ 'suite > one': '+' }))]))).toBe('pass');
  expect(short(decide(proof, [onCandidate([named({ suite: '-', b: '+' })], named({ b: '+' }))]))).toBe('fail cheat');
  expect(short(decide(byCommand, [onCandidate(base, named({ 'suite > one': '+' }))]))).toBe('pass');
});

describe('properties', () => {
  const outcome = fc.constantFrom('+', '-', '~', '');
  const tests = fc
    .tuple(outcome, outcome, outcome, outcome)
    .map((list) => list.flatMap((mark, i) => (mark === '' ? [] : [`${'abcd'[i]}${mark}`])).join(' '));
  const observation = fc
    .record({ tests: fc.option(tests, { nil: undefined }), exit: fc.constantFrom(0, 1, 2) })
    .map((o) => ran(o.tests, o.exit));
  const proof = fc.constantFrom(byTest, byCommand, byChecks);
  const aCheck = fc
    .record({
      base: fc.array(observation, { minLength: 1, maxLength: 3 }),
      candidate: observation,
      pinned: fc.option(observation, { nil: undefined }),
    })
    .map(({ base, candidate, pinned }) => onCandidate(base, candidate, pinned));
  const spoil = fc.constantFrom<Partial<CheckObservation>>(
    { end: 'timed-out', problem: 'x' },
    { end: 'killed', problem: 'x' },
    { end: 'not-started', problem: 'x' },
    { end: 'setup-failed', problem: 'x' },
    { report: { read: 'broken', format: 'tap', why: 'x' } },
  );

  test('L2 a verdict is never a pass when any observation did not run or has a broken report', () => {
    fc.assert(
      fc.property(proof, fc.array(aCheck, { minLength: 1, maxLength: 3 }), spoil, fc.nat(), fc.nat(2), (p, checks, bad, which, place) => {
        const index = which % checks.length;
        const spoiled = checks.map((one, i) => {
          if (i !== index) return one;
          if (place === 0) return { ...one, candidate: { ...one.candidate, ...bad } };
          if (place === 1) return { ...one, pinned: { ...(one.pinned ?? one.candidate), ...bad } };
          return { ...one, base: { ...one.base, runs: one.base.runs.map((r, j) => (j === 0 ? { ...r, ...bad } : r)) } };
        });
        expect(decide(p, spoiled).verdict).not.toBe('pass');
      }),
      { numRuns: 1_000 },
    );
  });

  test('L2 one more failing test never turns anything into a pass', () => {
    fc.assert(
      fc.property(proof, aCheck, (p, one) => {
        if (decide(p, [one]).verdict === 'pass') return;
        expect(decide(p, [{ ...one, candidate: withRed(one.candidate) }]).verdict).not.toBe('pass');
      }),
      { numRuns: 2_000 },
    );
  });

  test('L1 a pass by test means the test failed in every base run and passed as committed and as pinned', () => {
    let passes = 0;
    fc.assert(
      fc.property(aCheck, (one) => {
        if (decide(byTest, [one]).verdict !== 'pass') return;
        passes += 1;
        expect(one.base.runs.every((r) => has(r, 'failed'))).toBe(true);
        expect(has(one.candidate, 'passed') && (one.pinned === undefined || has(one.pinned, 'passed'))).toBe(true);
      }),
      { numRuns: 20_000 },
    );
    expect(passes).toBeGreaterThan(0);
  });

  test('VRD-09 a pass stays a pass without its pinned run, and a pinned run never helps', () => {
    fc.assert(
      fc.property(proof, aCheck, (p, one) => {
        if (decide(p, [one]).verdict === 'pass') expect(decide(p, [{ ...one, pinned: undefined, pinnedFiles: [] }]).verdict).toBe('pass');
      }),
      { numRuns: 5_000 },
    );
  });
});
