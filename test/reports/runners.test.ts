import { describe, expect, test } from 'vitest';
import { readTestReport } from '../../src/verify/reports/index.ts';
import { fixture, messageOf, outcomes, readFixture, readText } from './read-fixture.ts';

describe('JSON of jest and vitest', () => {
  test('RPT-20 jest inside the output of npm: leaf tests, a red import, a failed hook', () => {
    const report = readFixture('jest-json/jest-npm.txt', '/tmp/fx/jest');
    expect(outcomes(report)).toEqual([
      'passed test/sums.test.js > adds',
      'failed test/sums.test.js > subtracts',
      'passed test/sums.test.js > twice',
      'failed test/sums.test.js > twice #2',
      'skipped test/sums.test.js > skipped one',
      'skipped test/sums.test.js > later',
      'passed test/sums.test.js > suite > passes',
      'failed test/sums.test.js > suite > inner > fails deep',
      'failed test/sums.test.js > hook fails > never runs',
      'failed test/import-fails.test.js',
      'failed test/empty.test.js',
    ]);
    expect(messageOf(report, 'test/import-fails.test.js')).toContain("Cannot find module './no-such-module.js'");
  });

  test('RPT-21 vitest from its report file; stdout is then not searched', () => {
    const report = readTestReport({
      stdout: fixture('tap/node24.txt'),
      stderr: '',
      file: fixture('jest-json/vitest.txt'),
      cwd: '/tmp/fx/vt',
    });
    expect(outcomes(report)).toContain('failed test/sums.test.ts > suite > inner > fails deep > here');
    expect(outcomes(report)).toHaveLength(11);
  });

  test.each([
    ['cut in the middle', (text: string) => text.slice(0, text.length / 2), 'breaks off'],
    ['a count that differs', (text: string) => text.replace('"numTotalTests":9', '"numTotalTests":12'), 'counts 12 tests'],
    ['a red count that differs', (text: string) => text.replace('"numFailedTests":3', '"numFailedTests":0'), 'counts 0 failed'],
    ['another shape', (text: string) => text.replace('"testResults"', '"results"'), 'testResults'],
  ])('L2 JSON with %s is broken', (_, damage, why) => {
    expect(readText(damage(fixture('jest-json/vitest.txt')))).toMatchObject({
      read: 'broken',
      format: 'jest-json',
      why: expect.stringContaining(why) as string,
    });
  });
});

describe('JUnit XML', () => {
  test('RPT-30 vitest: the same ids as its JSON gives, and the failed hook', () => {
    expect(outcomes(readFixture('junit/vitest.xml', '/tmp/fx/vt'))).toEqual([
      ...outcomes(readFixture('jest-json/vitest.txt', '/tmp/fx/vt')),
      'failed test/sums.test.ts > hook fails',
    ]);
  });

  test('RPT-31 node: file and nested suites, no entry for a file without tests', () => {
    const lines = outcomes(readFixture('junit/node24.xml', '/tmp/fx/node project'));
    expect(lines).toContain('failed test/mixed.test.js > suite > inner > fails deep');
    expect(lines).toContain('skipped test/mixed.test.js > todo that fails');
    expect(lines).toContain('failed test/import-fails.test.js');
    expect(lines.join('\n')).not.toContain('empty.test.js');
    expect(outcomes(readFixture('junit/node20.xml', '/tmp/fx/node project'))).toContain('failed suite > inner > fails deep');
  });

  test('RPT-32 pytest: errors of collection, set-up and teardown are failed tests', () => {
    const report = readFixture('junit/pytest.xml', '/tmp/fx/py');
    expect(outcomes(report).filter((line) => line.startsWith('failed'))).toEqual([
      'failed tests.test_import_fails',
      'failed tests.test_sums > test_subtracts',
      'failed tests.test_sums > test_param[2]',
      'failed tests.test_sums > test_needs_fixture',
      'failed tests.test_sums > test_teardown',
      'failed tests.test_sums.TestGroup > test_inside',
      'failed tests.test_sums.OldStyle > test_old',
    ]);
    expect(messageOf(report, 'tests.test_sums > test_subtracts')).toContain('assert 2 == 1');
  });

  test('RPT-33 gotestsum: the parent of subtests is no test of its own', () => {
    expect(outcomes(readFixture('junit/gotestsum.xml', '/x'))).toEqual([
      'passed example.com/sums > TestAdds',
      'passed example.com/sums > TestTable > small',
      'failed example.com/sums > TestTable > large',
    ]);
  });

  test('RPT-34 several documents, noise around them, references XML forbids, and a suite red by itself', () => {
    const suite =
      '<?xml version="1.0"?>\n<testsuite name="demo.SumsTest" tests="1" failures="1"><testcase classname="demo.SumsTest" name="adds()"><failure message="red &#27;[31m &lt;2&gt;"><![CDATA[expected <1>]]></failure></testcase></testsuite>';
    const hook = '<testsuite name="Broken" tests="0" errors="1"><error message="no database"/></testsuite>';
    const report = readText(`[INFO] Running demo.SumsTest\n${suite}\n${hook}\n[ERROR] there are failures\n`);
    expect(outcomes(report)).toEqual(['failed demo.SumsTest > adds()', 'failed Broken']);
    expect(messageOf(report, 'demo.SumsTest > adds()')).toContain('expected <1>');
    expect(readText('<testsuites tests="0"/>')).toEqual({ read: 'yes', format: 'junit', tests: [] });
  });

  test.each([
    ['cut', (text: string) => text.slice(0, text.length / 2), 'not whole XML'],
    ['cut after a whole suite', (text: string) => text.slice(0, text.indexOf('</testsuite>') + 12), 'not whole XML'],
    ['a suite that counts more tests', (text: string) => text.replace('tests="10"', 'tests="40"'), 'counts 40 tests'],
    ['red counts and nothing red', (text: string) => text.replace(/<failure[^]*?<\/failure>/g, ''), 'none was read'],
  ])('L2 JUnit with %s is broken', (_, damage, why) => {
    expect(readText(damage(fixture('junit/vitest.xml')))).toMatchObject({
      read: 'broken',
      format: 'junit',
      why: expect.stringContaining(why) as string,
    });
  });
});

describe('pytest text', () => {
  const red = [
    'failed tests/test_import_fails.py',
    'failed tests/test_sums.py > OldStyle > test_old',
    'failed tests/test_sums.py > TestGroup > test_inside',
    'failed tests/test_sums.py > test_needs_fixture',
    'failed tests/test_sums.py > test_param[2]',
    'failed tests/test_sums.py > test_subtracts',
    'failed tests/test_sums.py > test_teardown',
  ];

  test.each(['pytest/rA.txt', 'pytest/v.txt', 'pytest/q.txt'])('RPT-40 %s: the same red tests whatever the options', (name) => {
    const report = readFixture(name, '/tmp/fx/py');
    expect(
      outcomes(report)
        .filter((line) => line.startsWith('failed'))
        .toSorted(),
    ).toEqual(red);
    expect(messageOf(report, 'tests/test_sums.py > test_subtracts')).toContain('AssertionError: wrong difference');
    expect(messageOf(report, 'tests/test_sums.py > test_teardown')).toContain('teardown trouble');
    expect(messageOf(report, 'tests/test_import_fails.py')).toContain("No module named 'no_such_module'");
  });

  test('RPT-41 tests that passed without a name are counted, never lost', () => {
    expect(outcomes(readFixture('pytest/rA.txt', '/tmp/fx/py')).filter((line) => line.startsWith('passed'))).toEqual([
      'passed tests/test_sums.py > test_adds',
      'passed tests/test_sums.py > test_param[1]',
      'passed tests/test_sums.py > test_param[a b - c]',
    ]);
    const quiet = outcomes(readFixture('pytest/q.txt', '/tmp/fx/py'));
    expect(quiet.filter((line) => line.startsWith('passed'))).toEqual([
      'passed (unnamed test)',
      ...[2, 3, 4].map((n) => `passed (unnamed test) #${n}`),
    ]);
  });

  test('RPT-42 an import error ends the session with one red file; a file without tests is no test', () => {
    expect(outcomes(readFixture('pytest/plain.txt', '/tmp/fx/py'))).toEqual(['failed tests/test_import_fails.py']);
    expect(outcomes(readFixture('pytest/x.txt', '/tmp/fx/py'))).toEqual(['failed tests/test_import_fails.py']);
    expect(readFixture('pytest/none.txt', '/tmp/fx/py')).toEqual({ read: 'yes', format: 'pytest', tests: [] });
  });

  test.each([
    ['its closing line missing', (text: string) => text.slice(0, text.lastIndexOf('\n=========')), 'closing line'],
    ['a red test not named', (text: string) => text.replace(/FAILED .*test_old.*\n/, ''), 'counts 4 failed tests, but names 3'],
  ])('L2 pytest with %s is broken', (_, damage, why) => {
    expect(readText(damage(fixture('pytest/rA.txt')))).toMatchObject({
      read: 'broken',
      format: 'pytest',
      why: expect.stringContaining(why) as string,
    });
  });
});

describe('go test -json', () => {
  test('RPT-50 leaf tests under their package; a package without tests adds none', () => {
    const report = readFixture('go-json/mixed.jsonl', '/x');
    expect(outcomes(report)).toEqual([
      'passed example.com/sums > TestAdds',
      'passed example.com/sums > TestTable > small',
      'failed example.com/sums > TestTable > large',
      'skipped example.com/sums > TestSkipped',
    ]);
    expect(messageOf(report, 'example.com/sums > TestTable > large')).toBe('sums_test.go:21: got 4, want 5');
  });

  test('RPT-51 code that does not compile is one red test of its package, with the compiler text', () => {
    const report = readFixture('go-json/build-fails.jsonl', '/x');
    expect(outcomes(report)).toEqual(['failed example.com/broken']);
    expect(messageOf(report, 'example.com/broken')).toContain('undefined: missing');
  });

  test.each([
    ['a line cut in two', (text: string) => text.slice(0, -60), 'is no event'],
    [
      'no end of its package',
      (text: string) => text.replace(/.*"Action":"fail","Package":"example.com\/sums","Elapsed".*\n/, ''),
      'has no end',
    ],
  ])('L2 go events with %s are broken', (_, damage, why) => {
    expect(readText(damage(fixture('go-json/mixed.jsonl')))).toMatchObject({
      read: 'broken',
      format: 'go-json',
      why: expect.stringContaining(why) as string,
    });
  });
});

describe('cargo test', () => {
  test('RPT-60 every binary and the documentation tests, by file and binary', () => {
    const report = readFixture('cargo/cargo.stdout.txt', '/tmp/fx/rs', 'cargo/cargo.stderr.txt');
    expect(outcomes(report)).toEqual([
      'passed src/lib.rs > sums > tests::adds',
      'failed src/lib.rs > sums > tests::inner::returns_error',
      'skipped src/lib.rs > sums > tests::skipped',
      'passed src/lib.rs > sums > tests::panics',
      'failed src/lib.rs > sums > tests::subtracts',
      'passed src/bin/tool.rs > tool > in_binary',
      'passed tests/adds.rs > adds > fine',
      'failed tests/adds.rs > adds > adds',
      'passed sums (doc) > src/lib.rs - add',
      'failed sums (doc) > src/lib.rs - add #2',
    ]);
    expect(messageOf(report, 'src/lib.rs > sums > tests::subtracts')).toContain('wrong difference');
  });

  test('RPT-61 a run that stops at the first red binary keeps the ids; code that does not compile is one red test', () => {
    expect(outcomes(readFixture('cargo/cargo-stop.stdout.txt', '/tmp/fx/rs', 'cargo/cargo-stop.stderr.txt'))).toContain(
      'failed src/lib.rs > sums > tests::subtracts',
    );
    const report = readFixture('cargo/cargo-compile.stdout.txt', '/tmp/fx/rs', 'cargo/cargo-compile.stderr.txt');
    expect(outcomes(report)).toEqual(['failed src/lib.rs']);
    expect(messageOf(report, 'src/lib.rs')).toContain('unclosed delimiter');
  });

  test.each([
    ['no result line', (text: string) => text.slice(0, text.lastIndexOf('test result:')), 'without its result line'],
    ['a count that differs', (text: string) => text.replace('2 passed; 2 failed', '3 passed; 2 failed'), 'counts 3, 2, 1'],
  ])('L2 cargo with %s is broken', (_, damage, why) => {
    expect(readText(damage(fixture('cargo/cargo.stdout.txt')))).toMatchObject({
      read: 'broken',
      format: 'cargo',
      why: expect.stringContaining(why) as string,
    });
  });
});
