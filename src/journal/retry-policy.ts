import type { Fault } from '../core/fault.ts';
import type { RetryPolicy } from './port.ts';

const capMsDefault = 3_600_000;

/**
 * How long to wait before a step is tried again.
 * @param failed `attempt` counts from 1; `isDefect`: a broken assertion is never tried again
 * @returns undefined when it is not tried again
 */
export const retryDelayMs = (
  policy: RetryPolicy | undefined,
  failed: { readonly attempt: number; readonly error: Fault; readonly isDefect: boolean },
): number | undefined => {
  if (policy === undefined || failed.isDefect || failed.attempt > policy.max) return undefined;
  if (policy.isRetryable?.(failed.error) === false) return undefined;
  return Math.min(policy.capMs ?? capMsDefault, policy.baseMs * (policy.factor ?? 2) ** (failed.attempt - 1));
};
