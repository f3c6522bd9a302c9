import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseBudget, parseDuration, parseSize } from '../../src/config/index.ts';
import { gyreShape } from '../../src/config/gyre-schema.ts';
import { loopShape } from '../../src/config/loop-schema.ts';
import { editDistance, nearest } from '../../src/core/nearest.ts';
import { issuesOf, load, loopText, minimal } from './helpers.ts';

describe('durations, budgets, sizes', () => {
  test.each([
    ['45m', 2_700_000],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['500ms', 500],
    ['1m500ms', 60_500],
    ['7d', 604_800_000],
    ...['', '45', '1.5h', '0s', '8d', '-1m', '30m1h', '1h 30m', '1H', 'm', '5m5m', '99999999999s'].map(
      (text) => [text, undefined] as const,
    ),
  ] as const)('CFG-40 the duration `%s` is %s ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test('CFG-40 any duration built from its units is read back', () => {
    fc.assert(
      fc.property(fc.nat(6), fc.nat(23), fc.nat(59), fc.nat(59), fc.nat(999), (d, h, m, s, ms) => {
        const parts = [
          [d, 'd'],
          [h, 'h'],
          [m, 'm'],
          [s, 's'],
          [ms, 'ms'],
        ] as const;
        const text = parts.map(([value, unit]) => (value === 0 ? '' : `${value}${unit}`)).join('');
        const total = (((d * 24 + h) * 60 + m) * 60 + s) * 1000 + ms;
        expect(parseDuration(text)).toBe(total === 0 ? undefined : total);
      }),
    );
  });

  test.each([
    ['$5', { usd: 5, tokens: undefined }],
    ['$0.25', { usd: 0.25, tokens: undefined }],
    ['200k tokens', { usd: undefined, tokens: 200_000 }],
    ['1.5M tokens', { usd: undefined, tokens: 1_500_000 }],
    ['$5, 200k tokens', { usd: 5, tokens: 200_000 }],
    [['900 tokens', '$1'], { usd: 1, tokens: 900 }],
    ['none', { usd: undefined, tokens: undefined }],
    ...['', '5', '$', '$0', '0 tokens', '$5, $6', '5$', '$5 200k tokens', '200k', '$1e9', 'none, $5'].map(
      (text) => [text, undefined] as const,
    ),
    [[], undefined],
  ] as const)('CFG-41 the budget %j is %j', (text, budget) => {
    expect(parseBudget(text)).toEqual(budget);
  });

  test.each([
    ['10mb', 10_485_760],
    ['64KB', 65_536],
    ['1gb', 1_073_741_824],
    ['5b', 5],
    ['10', undefined],
    ['1.5mb', undefined],
    ['10 mb', undefined],
  ] as const)('CFG-42 the size `%s` is %s bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });
});

/** A key with one letter put in, taken out, replaced, or swapped with its neighbour. */
const typoOf = (key: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom('insert', 'delete', 'replace', 'swap'),
      fc.nat(key.length - 1),
      fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz-'.split('')),
    )
    .map(([how, at, letter]) => {
      if (how === 'insert') return `${key.slice(0, at)}${letter}${key.slice(at)}`;
      if (how === 'delete') return `${key.slice(0, at)}${key.slice(at + 1)}`;
      if (how === 'replace') return `${key.slice(0, at)}${letter}${key.slice(at + 1)}`;
      return `${key.slice(0, at)}${key[at + 1] ?? ''}${key[at] ?? ''}${key.slice(at + 2)}`;
    });

describe('nearest', () => {
  test.each([
    ['kitten', 'sitting', 3],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['tiem', 'time', 1],
    ['ca', 'abc', 3],
  ] as const)('CFG-43 from `%s` to `%s` it takes %s edits', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });

  test.each([
    ['noProgress', 'no-progress'],
    ['no_progress', 'no-progress'],
    ['Attempts', 'attempts'],
    ['maximum', undefined],
    ['x'.repeat(100_000), undefined],
  ] as const)('CFG-43 the word nearest to `%s` is %s', (word, expected) => {
    expect(nearest(word, ['attempts', 'no-progress', 'time'])).toBe(expected);
  });

  const stopKeys = [
    'attempts',
    'no-progress',
    'same-failure',
    'time',
    'budget',
    'agents',
    'depth',
    'session',
    'idle',
    'result-grace',
    'output',
  ];
  const places: readonly { readonly known: readonly string[]; readonly issues: (typo: string) => readonly string[] }[] = [
    { known: Object.keys(loopShape), issues: (typo) => issuesOf(() => load(loopText(`${minimal}\n"${typo}": 1`))) },
    { known: stopKeys, issues: (typo) => issuesOf(() => load(loopText(`${minimal}\nstop: { "${typo}": 1 }`))) },
    { known: Object.keys(gyreShape), issues: (typo) => issuesOf(() => load(loopText(minimal), `"${typo}": 1`)) },
  ];
  test.each(places)('CFG-44 any typo of one of $known at one edit names that key, or one that is as near', ({ known, issues }) => {
    const typos = fc.constantFrom(...known).chain((key) => fc.tuple(fc.constant(key), typoOf(key)));
    fc.assert(
      fc.property(typos, ([key, typo]) => {
        fc.pre(typo !== '' && !known.includes(typo));
        const unknown = issues(typo).find((line) => line.includes('found an unknown key')) ?? 'not refused';
        const named = /\(did you mean (.+)\?\)$/.exec(unknown)?.[1];
        const asNear = known.filter((other) => editDistance(typo, other) <= 1);
        expect(asNear).toContain(key);
        expect(asNear).toContain(named);
      }),
      { numRuns: 100 },
    );
  });
});
