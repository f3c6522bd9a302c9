import { expect, test } from 'vitest';
import { Fault } from '../../src/core/fault.ts';
import type { RetryPolicy } from '../../src/journal/index.ts';
import { retryDelayMs } from '../../src/journal/retry-policy.ts';

const error = new Fault('NO_ROUTE', 'No route.');

test.each<[policy: RetryPolicy | undefined, delays: readonly (number | undefined)[]]>([
  [undefined, [undefined]],
  [{ max: 0, baseMs: 100 }, [undefined]],
  [{ max: 3, baseMs: 100 }, [100, 200, 400, undefined]],
  [{ max: 3, baseMs: 100, factor: 3, capMs: 500 }, [100, 300, 500, undefined]],
  [{ max: 2, baseMs: 10_000_000 }, [3_600_000, 3_600_000, undefined]],
  [{ max: 3, baseMs: 100, isRetryable: ({ code }) => code !== 'NO_ROUTE' }, [undefined]],
])('DUR-13 the policy %o waits %o', (policy, delays) => {
  expect(delays.map((_, index) => retryDelayMs(policy, { attempt: index + 1, error, isDefect: false }))).toEqual(delays);
});

test('DUR-14 a broken assertion is not tried again', () => {
  expect(retryDelayMs({ max: 3, baseMs: 1, isRetryable: () => true }, { attempt: 1, error, isDefect: true })).toBeUndefined();
});
