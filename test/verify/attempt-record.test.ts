import { expect, test } from 'vitest';
import { attemptRecordOf } from '../../src/core/attempt-record.ts';
import { commitSha } from '../../src/core/ids.ts';
import { noSpend } from '../../src/core/spend.ts';
import type { FailureReason, Verdict, VerdictRecord } from '../../src/core/verdict.ts';

const record = (verdict: Verdict): VerdictRecord => ({
  format: 'gyre.verdict/1',
  run: 'r',
  attempt: 3,
  task: 't',
  base: commitSha('1'.repeat(40)),
  candidate: commitSha('2'.repeat(40)),
  tree: 'tree',
  guards: [],
  gateFiles: [],
  checks: [],
  tools: {},
  verdict,
});
const of = (verdict: Verdict) =>
  attemptRecordOf({ record: record(verdict), agent: { outcome: 'completed', blocked: undefined }, spend: noSpend });
const reason = (more: Partial<FailureReason>): FailureReason => ({
  kind: 'newly-failing',
  sentence: 'B broke.',
  failing: ['b'],
  evidence: '',
  ...more,
});

test('L9 an attempt record names what was red, sorted and once, with its kinds', () => {
  const seen = of({
    verdict: 'fail',
    reasons: [reason({ failing: ['c', 'b'] }), reason({}), reason({ kind: 'cheat', sentence: 'No.' })],
    notes: [],
  });
  expect(seen).toMatchObject({ attempt: 3, tree: 'tree', verdict: 'fail', kinds: ['cheat', 'newly-failing'], failing: ['b', 'c'] });
  expect(seen.summary).toBe('B broke. (and 2 more)');
});

const text = (folder: string, ms: string, time: string, filler: number): string =>
  `at ${folder}/src/a.js:3:1 (${ms}ms) ${time}\nexpected 3, got 4\n${'line\n'.repeat(filler)}`;
const print = (evidence: string): string => of({ verdict: 'fail', reasons: [reason({ evidence })], notes: [] }).fingerprint;

test('L9 the same failure has the same fingerprint in another folder, at another time, with other durations', () => {
  const one = print(text('/tmp/room-1', '3.21', '2024-01-01T00:00:00Z', 3_000));
  expect(print(text('/var/x/room-22', '4', '2025-02-02T10:00:00.123Z', 3_000))).toBe(one);
  expect(print(text('/tmp/room-1', '3.21', '2024-01-01T00:00:00Z', 3_000).replace('got 4', 'got 5'))).not.toBe(one);
});

test('L9 an inconclusive attempt is told by what could not be judged, a pass by itself', () => {
  const seen = of({ verdict: 'inconclusive', why: ['It timed out.'], reasons: [reason({})], notes: [] });
  expect(seen).toMatchObject({ verdict: 'inconclusive', summary: 'It timed out.', failing: ['b'], kinds: ['newly-failing'] });
  expect(seen.fingerprint).toContain('It timed out.');
  expect(of({ verdict: 'pass', notes: [] })).toMatchObject({ verdict: 'pass', failing: [], kinds: [], fingerprint: '' });
});
