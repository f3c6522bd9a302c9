// Verdicts over what real runners print: each row is a base and a candidate in the words of one runner, read by the reader of its format.
import { describe, expect, test } from 'vitest';
import { decideVerdict } from '../../src/core/decide-verdict.ts';
import type { TaskProof } from '../../src/core/task.ts';
import type { CheckObservation, Verdict } from '../../src/core/verdict.ts';
import { readTestReport } from '../../src/verify/reports/index.ts';
import { onCandidate, ran } from './observations.ts';

interface Printed {
  readonly stdout: string;
  readonly stderr?: string;
  readonly exit: number;
}

const observe = ({ stdout, stderr = '', exit }: Printed): CheckObservation => ({
  ...ran('', exit),
  report: readTestReport({ stdout, stderr, cwd: '/room' }),
});

const verdictOn = (id: string, base: Printed, candidate: Printed, proof: TaskProof['by'] = 'test'): Verdict => {
  const runs = [observe(base), observe(base)];
  for (const run of [...runs, observe(candidate)]) expect(run.report).toMatchObject({ read: 'yes' });
  const asked: TaskProof =
    proof === 'test' ? { by: 'test', command: 'npm test', test: id, file: undefined } : { by: 'command', command: 'npm test' };
  return decideVerdict({ proof: asked, checks: [onCandidate(runs, observe(candidate))], guards: [], notes: [] });
};

const short = (verdict: Verdict): string =>
  [verdict.verdict, ...(verdict.verdict === 'pass' ? [] : verdict.reasons.map((reason) => reason.kind).toSorted())].join(' ');

type Marks = Readonly<Record<string, '+' | '-'>>;

const exitOf = (tests: Marks): number => (Object.values(tests).includes('-') ? 1 : 0);
const entries = (tests: Marks): readonly (readonly [string, boolean])[] => Object.entries(tests).map(([id, mark]) => [id, mark === '+']);

/** How each runner prints a list of tests. Ids are `file > name`, or `name` where the runner says no file. */
const printers: Readonly<Record<string, (tests: Marks) => Printed>> = {
  'node TAP': (tests) => ({
    stdout: [
      'TAP version 13',
      ...entries(tests).flatMap(([id, ok], at) => [
        `${ok ? '' : 'not '}ok ${at + 1} - ${id}`,
        '  ---',
        '  duration_ms: 1.5',
        ...(ok ? [] : [`  location: '/room/${id.includes('/') ? id : 'test/x.test.js'}:1:1'`, "  error: 'no'"]),
        '  ...',
      ]),
      `1..${Object.keys(tests).length}`,
    ].join('\n'),
    exit: exitOf(tests),
  }),
  'node spec': (tests) => ({
    stdout: [
      ...entries(tests).map(([id, ok]) => `${ok ? '✔' : '✖'} ${id} (1.5ms)`),
      `ℹ tests ${Object.keys(tests).length}`,
      'ℹ suites 0',
      '',
      '✖ failing tests:',
      ...entries(tests).flatMap(([id, ok]) =>
        ok ? [] : ['', `test at ${id.includes('/') ? id : 'test/x.test.js'}:1:1`, `✖ ${id} (1.5ms)`, '  no'],
      ),
    ].join('\n'),
    exit: exitOf(tests),
  }),
  'vitest and jest JSON': (tests) => ({
    stdout: JSON.stringify({
      numTotalTests: entries(tests).filter(([id]) => id.includes(' > ')).length,
      numFailedTests: entries(tests).filter(([id, ok]) => id.includes(' > ') && !ok).length,
      testResults: entries(tests).map(([id, ok]) => {
        const [file = '', ...titles] = id.split(' > ');
        const status = ok ? 'passed' : 'failed';
        const title = titles.at(-1);
        return {
          name: `/room/${file}`,
          status,
          message: ok ? '' : 'no',
          assertionResults: title === undefined ? [] : [{ ancestorTitles: titles.slice(0, -1), title, status, failureMessages: ['no'] }],
        };
      }),
    }),
    exit: exitOf(tests),
  }),
  'pytest -rA': (tests) => pytest(tests, true),
  'go test -json': (tests) => {
    const packages = [...new Set(Object.keys(tests).map((id) => id.split(' > ')[0] ?? ''))];
    const isRed = (name: string): boolean => entries(tests).some(([id, ok]) => (id === name || id.startsWith(`${name} > `)) && !ok);
    return {
      stdout: [
        ...entries(tests).flatMap(([id, ok]) => {
          const [name, ...path] = id.split(' > ');
          return path.length === 0 ? [] : [{ Action: ok ? 'pass' : 'fail', Package: name, Test: path.join('/') }];
        }),
        ...packages.map((name) => ({ Action: isRed(name) ? 'fail' : 'pass', Package: name })),
      ]
        .map((event) => JSON.stringify(event))
        .join('\n'),
      exit: exitOf(tests),
    };
  },
  'cargo test': (tests) => {
    const list = entries(tests);
    const red = list.filter(([, ok]) => !ok).length;
    return {
      stdout: [
        `running ${list.length} tests`,
        ...list.map(([id, ok]) => `test ${id.split(' > ').at(-1)} ... ${ok ? 'ok' : 'FAILED'}`),
        `test result: ${red > 0 ? 'FAILED' : 'ok'}. ${list.length - red} passed; ${red} failed; 0 ignored; 0 measured; 0 filtered out`,
      ].join('\n'),
      stderr: '     Running unittests src/lib.rs (target/debug/deps/sums-0123456789abcdef)\n',
      exit: exitOf(tests) * 101,
    };
  },
  JUnit: (tests) => ({
    stdout: `<testsuites>${entries(tests)
      .map(([id, ok]) => {
        const [name, ...path] = id.split(' > ');
        return `<testsuite name="${name}"><testcase classname="${name}" name="${path.join(' ')}">${ok ? '' : '<failure>no</failure>'}</testcase></testsuite>`;
      })
      .join('')}</testsuites>`,
    exit: exitOf(tests),
  }),
};

const printerOf = (runner: string): ((tests: Marks) => Printed) => {
  const print = printers[runner];
  if (print === undefined) throw new Error(`no printer for ${runner}`);
  return print;
};

const pytest = (tests: Marks, named: boolean): Printed => {
  const isError = (id: string): boolean => !id.includes(' > ');
  const node = (id: string): string => id.replaceAll(' > ', '::');
  const list = entries(tests);
  const counts = [
    [list.filter(([id, ok]) => !ok && !isError(id)).length, 'failed'],
    [list.filter(([, ok]) => ok).length, 'passed'],
    [list.filter(([id, ok]) => !ok && isError(id)).length, 'errors'],
  ] as const;
  return {
    stdout: [
      '=== test session starts ===',
      '=== short test summary info ===',
      ...list.filter(([, ok]) => named || !ok).map(([id, ok]) => `${ok ? 'PASSED' : isError(id) ? 'ERROR' : 'FAILED'} ${node(id)}`),
      `=== ${counts
        .filter(([count]) => count > 0)
        .map(([count, word]) => `${count} ${word}`)
        .join(', ')} in 0.01s ===`,
    ].join('\n'),
    exit: exitOf(tests),
  };
};

/** Ids of three tests as each runner gives them. */
const idsOf: Readonly<Record<string, readonly [string, string, string]>> = {
  'node TAP': ['adds', 'subtracts', 'doubles'],
  'node spec': ['adds', 'subtracts', 'doubles'],
  'vitest and jest JSON': ['test/a.test.ts > adds', 'test/a.test.ts > suite > subtracts', 'test/b c.test.ts > doubles'],
  'pytest -rA': ['tests/test_a.py > test_adds', 'tests/test_a.py > TestX > test_subtracts', 'tests/test_b.py > test_doubles'],
  'go test -json': ['example.com/a > TestAdds', 'example.com/a > TestTable > subtracts', 'example.com/b > TestDoubles'],
  'cargo test': ['src/lib.rs > sums > tests::adds', 'src/lib.rs > sums > tests::subtracts', 'src/lib.rs > sums > tests::doubles'],
  JUnit: ['demo.ATest > adds', 'demo.ATest > subtracts', 'demo.BTest > doubles'],
};

describe.each(Object.keys(printers))('%s', (runner) => {
  const print = printerOf(runner);
  const [a, b, c] = idsOf[runner] ?? ['', '', ''];
  const verdict = (candidate: Marks): Verdict => verdictOn(a, print({ [a]: '-', [b]: '-', [c]: '+' }), print(candidate));

  test('VRD-10 a task passes although another old failure keeps the command red, and the note names it', () => {
    const got = verdict({ [a]: '+', [b]: '-', [c]: '+' });
    expect(got).toEqual({ verdict: 'pass', notes: [`Old failures in check "tests" (red on base too): "${b}".`] });
  });

  test.each([
    ['all green', { [a]: '+', [b]: '+', [c]: '+' }, 'pass'],
    ['still red', { [a]: '-', [b]: '+', [c]: '+' }, 'fail task-still-red'],
    ['a neighbour broken', { [a]: '+', [b]: '-', [c]: '-' }, 'fail newly-failing'],
    ['gone', { [b]: '-', [c]: '+' }, 'fail task-still-red'],
    ['gone from a green run', { [b]: '+', [c]: '+' }, 'fail cheat'],
  ] as const)('VRD-10 %s', (_fact, candidate, want) => {
    expect(short(verdict(candidate))).toBe(want);
  });
});

/** An entry for a whole, how it looks once repaired, and a test inside. `old` is red all the time and stands elsewhere. */
const wholes: readonly (readonly [kind: string, runner: string, entry: string, inside: string, old: string, neighbour: string])[] = [
  ['a file that does not load', 'node TAP', 'test/b.test.js', 'adds', 'subtracts', 'doubles'],
  ['a file with a blank in its name', 'node TAP', 'test/b c.test.js', 'adds', 'subtracts', 'doubles'],
  ['a file that does not load', 'node spec', 'test/b.test.js', 'adds', 'subtracts', 'doubles'],
  [
    'a file that does not load',
    'vitest and jest JSON',
    'test/b.test.ts',
    'test/b.test.ts > adds',
    'test/a.test.ts > x',
    'test/a.test.ts > y',
  ],
  ['a file with a blank in its name', 'vitest and jest JSON', 'my test/b c.test.ts', 'my test/b c.test.ts > adds', 'a.ts > x', 'a.ts > y'],
  ['an import error', 'pytest -rA', 'tests/test_b.py', 'tests/test_b.py > test_adds', 'tests/test_a.py > x', 'tests/test_a.py > y'],
  [
    'a package that does not build',
    'go test -json',
    'example.com/b',
    'example.com/b > TestAdds',
    'example.com/a > TestX',
    'example.com/a > TestY',
  ],
];

describe.each(wholes)('%s (%s): %s', (_kind, runner, entry, inside, old, neighbour) => {
  const print = printerOf(runner);
  const base = print({ [entry]: '-', [old]: '-', [neighbour]: '+' });
  const verdict = (candidate: Marks): Verdict => verdictOn(entry, base, print(candidate));

  test.each([
    ['gone, its tests green, an old failure left', { [inside]: '+', [old]: '-', [neighbour]: '+' }, 'pass'],
    ['gone, its tests green, all green', { [inside]: '+', [old]: '+', [neighbour]: '+' }, 'pass'],
    ['gone, a test of it red', { [inside]: '-', [old]: '-', [neighbour]: '+' }, 'fail newly-failing task-still-red'],
    ['gone, no test of it ran, red run', { [old]: '-', [neighbour]: '+' }, 'fail task-still-red'],
    ['there and red', { [entry]: '-', [old]: '-', [neighbour]: '+' }, 'fail task-still-red'],
  ] as const)('VRD-08 %s', (_fact, candidate, want) => {
    expect(short(verdict(candidate))).toBe(want);
  });

  test('VRD-08 gone and nothing of it ran in a green run is no pass', () => {
    expect(verdict({ [old]: '+', [neighbour]: '+' }).verdict).not.toBe('pass');
  });
});

test('VRD-08 a suite whose hook failed is repaired when its tests are green', () => {
  const hook = (red: string): Printed => ({
    stdout: `<testsuites><testsuite name="demo.B">${red}<testcase name="adds"/></testsuite><testsuite name="demo.A"><testcase name="x"><failure/></testcase></testsuite></testsuites>`,
    exit: 1,
  });
  expect(short(verdictOn('demo.B', hook('<error message="no database"/>'), hook('')))).toBe('pass');
});

test('VRD-08 a crate that did not compile is repaired when tests appear and none of them is red', () => {
  const base = {
    stdout: '',
    stderr: 'error[E0425]: cannot find value\n --> src/sums.rs:2:5\nerror: could not compile `sums` (lib test) due to 1 previous error\n',
    exit: 101,
  };
  const print = printerOf('cargo test');
  expect(short(verdictOn('src/sums.rs', base, print({ adds: '+' })))).toBe('pass');
  expect(short(verdictOn('src/sums.rs', base, print({ adds: '+', subtracts: '-' })))).toBe('fail newly-failing task-still-red');
  expect(short(verdictOn('src/sums.rs', base, base))).toBe('fail task-still-red');
});

test('VRD-08 a parent that failed by itself is repaired when its subtests are green', () => {
  const print = printerOf('go test -json');
  const parent = 'example.com/a > TestTable';
  const base = print({ [`${parent} > small`]: '+', [parent]: '-', 'example.com/b > TestX': '-' });
  expect(short(verdictOn(parent, base, print({ [`${parent} > small`]: '+', [parent]: '+', 'example.com/b > TestX': '-' })))).toBe('pass');
});

test('VRD-11 a red test that an older trouble kept from running on base is old, and the note says so', () => {
  const print = printerOf('vitest and jest JSON');
  const base = print({ 'a.ts > x': '-', 'b.ts': '-' });
  const got = verdictOn('a.ts > x', base, print({ 'a.ts > x': '+', 'b.ts > y': '-' }));
  expect(got.verdict).toBe('pass');
  expect(got.notes.join(' ')).toContain('"b.ts > y"');
  // A neighbour in the same file that base had green is no such test.
  const mixed = print({ 'a.ts > x': '-', 'b.ts': '-', 'b.ts > y': '+' });
  expect(short(verdictOn('a.ts > x', mixed, print({ 'a.ts > x': '+', 'b.ts': '-', 'b.ts > y': '-' })))).toBe('fail newly-failing');
});

describe('pytest without -rA', () => {
  const [a, b, c] = ['t.py > test_a', 't.py > test_b', 't.py > test_c'] as const;
  const base = pytest({ [a]: '-', [b]: '-', [c]: '+' }, false);

  test.each([
    ['repaired beside an old failure', { [a]: '+', [b]: '-', [c]: '+' }, 'pass'],
    ['repaired and all green', { [a]: '+', [b]: '+', [c]: '+' }, 'pass'],
    ['still red', { [a]: '-', [b]: '-', [c]: '+' }, 'fail task-still-red'],
    ['deleted beside an old failure', { [b]: '-', [c]: '+' }, 'fail task-still-red'],
    ['deleted, all green', { [b]: '+', [c]: '+' }, 'fail cheat'],
    ['repaired and a neighbour broken', { [a]: '+', [b]: '-', [c]: '-' }, 'fail newly-failing'],
  ] as const)('VRD-12 %s', (_fact, candidate, want) => {
    expect(short(verdictOn(a, base, pytest(candidate, false)))).toBe(want);
  });

  test('VRD-12 a repair told by the count is said in a note', () => {
    const notes = verdictOn(a, base, pytest({ [a]: '+', [b]: '-', [c]: '+' }, false)).notes.join(' ');
    expect(notes).toContain('no fewer tests ran than on base (3)');
    expect(notes).toContain('-rA');
  });

  test('VRD-12 a command that turns green hides nothing when no fewer tests ran', () => {
    expect(short(verdictOn('', base, pytest({ [a]: '+', [b]: '+', [c]: '+' }, false), 'command'))).toBe('pass');
    expect(short(verdictOn('', base, pytest({ [c]: '+' }, false), 'command'))).toBe('fail cheat');
  });

  test('VRD-08 an import error is repaired when more tests run and none is red', () => {
    expect(short(verdictOn('t.py', pytest({ 't.py': '-' }, false), pytest({ [a]: '+', [b]: '+' }, false)))).toBe('pass');
  });
});
