import { expect, test } from 'vitest';
import { testsCounted } from '../../src/core/test-counts.ts';

test.each([
  ['1 passed, 1 failed\nadd(2, 3): expected 5', 2],
  ['0 passed', 0],
  ['  3 passing (4ms)\n  2 failing', 5],
  ['a: 2 passed\nb: 3 passed, 1 failed', 6],
  ['Ran 5 tests in 0.1s\n\nOK', 5],
  ['2 failed', undefined],
  ['all good', undefined],
  ['', undefined],
])('VER-01 %j says that %s tests ran', (output, count) => {
  expect(testsCounted(output)).toBe(count);
});
