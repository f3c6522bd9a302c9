import { assert, integer, property } from 'fast-check';
import { expect, test } from 'vitest';
import { isReportFormat, readTestReport, reportFormats } from '../../src/verify/reports/index.ts';
import { fixture, outcomes, readText } from './read-fixture.ts';

test('RPT-70 text of no known format, and no text, say so', () => {
  expect(readText('')).toEqual({ read: 'no-format' });
  expect(readText('building...\nall fine\n')).toEqual({ read: 'no-format' });
  expect(readText('> pkg@1.0.0 test\n> make check\n\nok then\n1 passed\n')).toEqual({ read: 'no-format' });
});

test('L2 two formats in one output are broken until one is named', () => {
  const both = `${fixture('pytest/rA.txt')}\n${fixture('tap/node24.txt')}`;
  expect(readText(both)).toMatchObject({ read: 'broken', why: expect.stringContaining('report.format') as string });
  expect(readTestReport({ stdout: both, stderr: '', format: 'pytest', cwd: '/tmp/fx/py' }).read).toBe('yes');
});

test('L2 a named format that is not there is broken, not absent', () => {
  expect(readTestReport({ stdout: 'nothing', stderr: '', format: 'tap' })).toMatchObject({ read: 'broken', format: 'tap' });
  expect(readTestReport({ stdout: '', stderr: '', file: '', format: 'junit' })).toMatchObject({ read: 'broken', format: 'junit' });
});

test('L2 a format nobody knows is broken, never guessed around', () => {
  const report = readTestReport({ stdout: fixture('tap/node24.txt'), stderr: '', format: 'xunit' });
  expect(report).toMatchObject({ read: 'broken', why: expect.stringContaining('"xunit" is no report format') as string });
});

test('RPT-71 a compiler error on stderr does not take over another report', () => {
  const stderr = 'error: could not compile `fixture` (lib) due to 1 previous error\n';
  expect(readTestReport({ stdout: 'TAP version 13\nok 1 - adds\n1..1\n', stderr })).toMatchObject({ read: 'yes', format: 'tap' });
});

test('RPT-72 the formats are named, and only they', () => {
  expect(reportFormats).toEqual(['go-json', 'jest-json', 'junit', 'node-spec', 'tap', 'pytest', 'cargo']);
  expect(isReportFormat('tap')).toBe(true);
  expect(isReportFormat('xunit')).toBe(false);
});

// Not among them: go and cargo print one part after another, and what breaks off between two parts looks like a run that stopped there.
const samples = ['tap/node24.txt', 'tap/vitest.txt', 'node-spec/node24.txt', 'jest-json/jest-npm.txt', 'junit/vitest.xml', 'pytest/rA.txt'];

const red = (text: string): number => outcomes(readText(text)).filter((line) => line.startsWith('failed')).length;

test.each(samples)('L2 %s cut at any place is never read as a whole report with fewer red tests', (name) => {
  const text = fixture(name);
  const all = red(text);
  expect(all).toBeGreaterThan(0);
  const isHonest = (at: number): boolean => readText(text.slice(0, at)).read !== 'yes' || red(text.slice(0, at)) === all;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1))
    for (const at of [end, end + 1]) expect([at, isHonest(at)]).toEqual([at, true]);
  assert(property(integer({ min: 0, max: text.length }), isHonest), { numRuns: 100 });
});

const flood = (line: string): string => line.repeat(Math.ceil(10_000_000 / line.length));

test.each([
  ['blanks', flood(' ')],
  ['one long line of marks', flood('✖ x (1.5ms) ')],
  ['opening brackets', flood('[')],
  ['escape codes', flood('\u001B[')],
  ['unclosed titles', flood('\u001B]0;')],
  ['lines of equals signs', flood(`${'='.repeat(200)} x\n`)],
  ['colons and words', flood('a::b PASSED (')],
  ['braces', flood('{"')],
  ['lines like points', flood('ok 1 - x # y\n')],
  ['lines like cargo', flood('test x ... \n')],
  ['angle brackets', flood('<testsuite ')],
  ['underscores', flood('____ x\n')],
])('RPT-73 10 MB of %s is dealt with in time', { timeout: 120_000 }, (_, text) => {
  const started = performance.now();
  readTestReport({ stdout: text, stderr: '', cwd: '/project' });
  for (const format of reportFormats) readTestReport({ stdout: text.slice(0, 1_000_000), stderr: '', format, cwd: '/project' });
  // A quadratic pattern takes hours; the bound leaves room for a busy machine.
  expect(performance.now() - started).toBeLessThan(60_000);
});

test('RPT-74 a real report behind 10 MB of noise is found whole', () => {
  const noise = `${'the quick brown fox '.repeat(10)}\n`.repeat(50_000);
  expect(outcomes(readText(noise + fixture('tap/node24.txt'), '/tmp/fx/node project'))).toHaveLength(17);
});
