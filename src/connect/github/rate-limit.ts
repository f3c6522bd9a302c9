import { epochMs, type EpochMs } from '../../core/ids.ts';

/** A refusal for too many requests that does not say when it ends: so long, as the service's own advice has it. */
const unsaidMs = 60_000;
/** What is said to last longer is asked again after this. */
const longestMs = 24 * 3_600_000;

/**
 * When the service serves again, if this answer is a refusal for too many requests; `undefined` if it is not. Pure. Status 403 and 429
 * with `retry-after` (seconds), or `x-ratelimit-remaining: 0` with `x-ratelimit-reset` (seconds since 1970); secondary limits may send
 * neither and say so in words.
 */
export const limitedUntil = (
  answer: { readonly status: number; readonly header: (name: string) => string | null; readonly message: string },
  now: EpochMs,
): EpochMs | undefined => {
  if (answer.status !== 429 && answer.status !== 403) return undefined;
  const seconds = (name: string): number | undefined => {
    const text = answer.header(name)?.trim() ?? '';
    return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
  };
  const until = (at: number): EpochMs => epochMs(Math.min(Math.max(at, now + 1_000), now + longestMs));
  const after = seconds('retry-after');
  if (after !== undefined) return until(now + after * 1_000);
  const reset = seconds('x-ratelimit-reset');
  if (seconds('x-ratelimit-remaining') === 0 && reset !== undefined) return until(reset * 1_000);
  return answer.status === 429 || /rate limit/i.test(answer.message) ? until(now + unsaidMs) : undefined;
};
