import { describe, expect, test } from 'vitest';
import { fixture, messageOf, outcomes, readFixture, readText } from './read-fixture.ts';

const nodeProject = '/tmp/fx/node project';

const tests = [
  'failed test/exits-early.test.js',
  'failed test/import-fails.test.js',
  'passed adds',
  'failed subtracts',
  'passed twice',
  'failed twice #2',
  'failed odd # name \\ with: signs > "quoted"',
  'skipped skipped one',
  'skipped todo that fails',
  'skipped plain skip',
  'passed suite > passes',
  'failed suite > inner > fails deep',
  'failed hook fails > never runs',
  'passed parent with subtests > child good',
  'failed parent with subtests > child bad',
  'passed prints things',
  'passed ünïcode ✓ name',
];

describe('TAP of node --test', () => {
  test.each(['tap/node20.txt', 'tap/node24.txt', 'tap/npm-node20.txt'])(
    'RPT-01 %s: leaf tests with stable ids, files only where they fail as a whole',
    (name) => {
      expect(outcomes(readFixture(name, nodeProject))).toEqual(tests);
    },
  );

  test('RPT-02 a failure carries its error, expected and actual values and its place', () => {
    const report = readFixture('tap/node24.txt', nodeProject);
    expect(messageOf(report, 'subtracts')).toContain("location: 'test/mixed.test.js:5:1'");
    expect(messageOf(report, 'subtracts')).toContain('wrong difference');
    expect(messageOf(report, 'subtracts')).toContain('expected: 1\nactual: 2');
    expect(messageOf(report, 'subtracts')).not.toContain('duration_ms');
    expect(messageOf(report, 'test/import-fails.test.js')).toContain('ERR_MODULE_NOT_FOUND');
    expect(messageOf(report, 'hook fails > never runs')).toContain('no database');
  });

  test('RPT-03 nothing of the folder, the time or the line stands in an id, so two checkouts agree', () => {
    const text = fixture('tap/node24.txt');
    const elsewhere = text
      .replaceAll(nodeProject, '/other/place')
      .replace(/duration_ms: [\d.]+/g, 'duration_ms: 7')
      .replace(/:\d+:\d+'/g, ":99:9'");
    expect(outcomes(readText(elsewhere, '/other/place'))).toEqual(outcomes(readFixture('tap/node24.txt', nodeProject)));
  });

  test('RPT-04 CRLF and colour codes change nothing', () => {
    const text = fixture('tap/node24.txt');
    expect(outcomes(readText(text.replaceAll('\n', '\r\n'), nodeProject))).toEqual(tests);
    expect(outcomes(readText(text.replaceAll('not ok', '\u001B[31mnot ok\u001B[39m'), nodeProject))).toEqual(tests);
  });

  test('RPT-05 a file wrapped around its tests (Node 18) is the file of their ids', () => {
    const text = [
      'TAP version 13',
      '# Subtest: /project/a.test.js',
      '    # Subtest: adds',
      '    ok 1 - adds',
      '      ---',
      '      duration_ms: 1',
      '      ...',
      '    1..1',
      'ok 1 - /project/a.test.js',
      '1..1',
    ];
    expect(outcomes(readText(text.join('\n')))).toEqual(['passed a.test.js > adds']);
  });

  test('RPT-06 a run of files without tests is read as no test at all', () => {
    const text = [
      'TAP version 13',
      '# Subtest: a.test.js',
      'ok 1 - a.test.js',
      '  ---',
      '  duration_ms: 9',
      "  type: 'test'",
      '  ...',
      '1..1',
      '# tests 1',
      '# suites 0',
    ];
    expect(readText(text.join('\n'))).toEqual({ read: 'yes', format: 'tap', tests: [] });
    expect(readText('TAP version 13\n1..0\n')).toEqual({ read: 'yes', format: 'tap', tests: [] });
  });

  test('RPT-07 a test whose title names a file is a test where its place is another file', () => {
    const text = ['TAP version 13', 'not ok 1 - parser.js', '  ---', "  location: '/project/test/a.test.js:3:1'", '  ...', '1..1'];
    expect(readText(text.join('\n'))).toMatchObject({ tests: [{ id: 'parser.js', file: 'test/a.test.js', outcome: 'failed' }] });
  });

  test('RPT-08 a suite that is red with nothing red inside counts as one failed test', () => {
    const text = [
      'TAP version 13',
      '    ok 1 - inside',
      '    1..1',
      'not ok 1 - suite',
      '  ---',
      "  failureType: 'hookFailed'",
      "  error: 'after'",
      '  ...',
      '1..1',
    ];
    expect(outcomes(readText(text.join('\n')))).toEqual(['passed suite > inside', 'failed suite']);
  });

  test.each([
    ['a plan that is not met', (text: string) => text.replace('1..16', '1..17'), 'plan says 17'],
    ['the plan of a suite that is not met', (text: string) => text.replace('    1..3', '    1..4'), 'plan says 4'],
    ['an end that is missing', (text: string) => text.slice(0, text.indexOf('1..16')), 'broke off'],
    ['a diagnostic block cut in two', (text: string) => text.slice(0, text.indexOf('operator:')), 'never ends'],
    [
      'a test that is missing in the middle',
      (text: string) => text.replace('ok 9 - skipped one # SKIP not today\n', ''),
      'test 10 follows',
    ],
    ['counts that differ', (text: string) => text.replace('# tests 19', '# tests 20'), 'counts 20 tests'],
    ['a bail-out', (text: string) => text.replace('# Subtest: twice', 'Bail out! no disk'), 'no disk'],
    ['a middle thrown away', (text: string) => text.replace('# Subtest: adds\n', '[... 9000 bytes cut by Gyre ...]\n'), 'was cut'],
  ])('L2 TAP with %s is broken, never a part of the truth', (_, damage, why) => {
    const report = readText(damage(fixture('tap/node24.txt')), nodeProject);
    expect(report.read).toBe('broken');
    expect(report).toMatchObject({ format: 'tap', why: expect.stringContaining(why) as string });
  });

  test('RPT-09 TAP of vitest: braces, times and a red import', () => {
    const report = readFixture('tap/vitest.txt', '/tmp/fx/vt');
    expect(outcomes(report)).toEqual([
      'failed test/empty.test.ts',
      'failed test/import-fails.test.ts',
      'passed test/sums.test.ts > adds',
      'failed test/sums.test.ts > subtracts',
      'passed test/sums.test.ts > twice',
      'failed test/sums.test.ts > twice #2',
      'skipped test/sums.test.ts > skipped one',
      'skipped test/sums.test.ts > later',
      'passed test/sums.test.ts > suite > passes',
      'failed test/sums.test.ts > suite > inner > fails deep > here',
      'skipped test/sums.test.ts > hook fails > never runs',
      'failed test/sums.test.ts > hook fails',
    ]);
    expect(messageOf(report, 'test/sums.test.ts > subtracts')).toContain('expected 2 to be 1');
  });

  test.each(['tap/node20-load.txt', 'tap/node24-load.txt'])(
    'RPT-13 %s: two files that do not load are red, the others as they are',
    (name) => {
      const report = readFixture(name, '/tmp/fx/node load');
      expect(outcomes(report)).toEqual([
        'passed adds',
        'failed subtracts',
        'failed test/b.test.js',
        'failed test/c.test.js',
        'passed good',
      ]);
      expect(messageOf(report, 'test/b.test.js')).toContain('Error: no import');
      expect(messageOf(report, 'test/c.test.js')).toContain('SyntaxError');
    },
  );

  test.each([
    [
      'a test that is missing before a file',
      (text: string) => text.replace(/# Subtest: adds\nok 1[^]*?\.\.\.\n/, ''),
      'test 2 follows test 0',
    ],
    ['a file that is missing', (text: string) => text.replace(/not ok 3[^]*?\.\.\.\n/, ''), 'test 5 follows test 3'],
    ['a number of a plain test that is not its place', (text: string) => text.replace('ok 5 - good', 'ok 4 - good'), 'test 4 follows'],
  ])('L2 TAP of files that do not load, with %s, is broken', (_, damage, why) => {
    const report = readText(damage(fixture('tap/node24-load.txt')), '/tmp/fx/node load');
    expect(report).toMatchObject({ read: 'broken', why: expect.stringContaining(why) as string });
  });

  test('RPT-10 TAP without a version line, as bats prints it, and two documents of two workspaces', () => {
    expect(outcomes(readText('1..2\nok 1 adds\nnot ok 2 subtracts # TODO later\n'))).toEqual(['passed adds', 'skipped subtracts']);
    const one = 'TAP version 13\nok 1 - adds\n1..1\n';
    expect(outcomes(readText(`> a@1.0.0 test\n${one}\n> b@1.0.0 test\n${one}`))).toEqual(['passed adds', 'passed adds #2']);
  });
});

describe('spec of node --test', () => {
  test.each(['node-spec/node20.txt', 'node-spec/node24.txt'])('RPT-11 %s: the same ids as TAP gives', (name) => {
    const report = readFixture(name, nodeProject);
    // The reporter marks an empty suite like a test that passed.
    expect(outcomes(report).filter((line) => line !== 'passed suite > empty suite')).toEqual(tests);
    expect(messageOf(report, 'subtracts')).toMatch(/^AssertionError \[ERR_ASSERTION\]: wrong difference\n\n2 !== 1/);
    expect(messageOf(report, 'test/import-fails.test.js')).toContain('ERR_MODULE_NOT_FOUND');
    expect(messageOf(report, 'hook fails > never runs')).toContain('no database');
    expect(report).toMatchObject({
      read: 'yes',
      tests: expect.arrayContaining([expect.objectContaining({ name: 'subtracts', file: 'test/mixed.test.js' })]) as unknown,
    });
  });

  test.each([
    ['a missing summary', (text: string) => text.slice(0, text.indexOf('ℹ tests')), 'broke off'],
    ['a missing test', (text: string) => text.replace(/✔ adds .*\n/, ''), 'but 22 entries'],
    [
      'an end that is missing after npm noise',
      (text: string) => `> pkg@1.0.0 test\n> node --test\n\n${text.slice(text.indexOf('✔ adds'), text.indexOf('▶ suite'))}`,
      'broke off',
    ],
  ])('L2 spec with %s is broken', (_, damage, why) => {
    expect(readText(damage(fixture('node-spec/node24.txt')), nodeProject)).toMatchObject({
      read: 'broken',
      format: 'node-spec',
      why: expect.stringContaining(why) as string,
    });
  });

  test('RPT-12 two workspaces one after another, and a run of no test', () => {
    const one = '✔ adds (1.5ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\nℹ duration_ms 9.5\n';
    const red =
      '✖ adds (1.5ms)\nℹ tests 1\nℹ suites 0\nℹ pass 0\nℹ fail 1\n\n✖ failing tests:\n\ntest at a.test.js:1:1\n✖ adds (1.5ms)\n  Error: no\n';
    const report = readText(`> a@1.0.0 test\n${red}\n> b@1.0.0 test\n${one}`);
    expect(outcomes(report)).toEqual(['failed adds', 'passed adds #2']);
    expect(messageOf(report, 'adds')).toBe('Error: no');
    expect(readText('ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0\n')).toEqual({ read: 'yes', format: 'node-spec', tests: [] });
  });
});
