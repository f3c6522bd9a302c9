import { epochMs, type EpochMs } from '../core/ids.ts';
import type { Failure, FailureClass } from './failure.ts';

export interface ClassPolicy {
  /** Tries that dispatch adds by itself to one task for failures of this class; after them a person decides. */
  readonly triesMax: number;
  /** Wait before the first of them; doubled for each next one. */
  readonly firstMs: number;
  readonly longestMs: number;
}

const minute = 60_000;

/**
 * Who is asked again, and when. The attempts within a run are the retries of a task's own failure, so dispatch adds none; what surrounds a
 * task is tried again in its own time and takes nothing from the task's attempts.
 */
export const retryPolicies: Readonly<Record<FailureClass, ClassPolicy>> = {
  task: { triesMax: 0, firstMs: 0, longestMs: 0 },
  check: { triesMax: 2, firstMs: 5 * minute, longestMs: 60 * minute },
  agent: { triesMax: 3, firstMs: minute, longestMs: 30 * minute },
  provider: { triesMax: 12, firstMs: minute, longestMs: 60 * minute },
  machine: { triesMax: 5, firstMs: minute, longestMs: 30 * minute },
  configuration: { triesMax: 5, firstMs: 10 * minute, longestMs: 6 * 60 * minute },
};

/** Tries used by class, for one task; kept in its record and cleared when a person goes on with it. */
export type TriesByClass = Readonly<Partial<Record<FailureClass, number>>>;

export type NextTry =
  | { readonly next: 'again'; readonly at: EpochMs; readonly tries: TriesByClass }
  | { readonly next: 'person'; readonly why: string };

/**
 * What becomes of a task whose run failed. Pure.
 *
 *   wait = min(firstMs * 2^tries, longestMs) * (0.5 + draw / 2)
 *
 * Where the provider named its reset, the task waits for that and no try is used, because it is known to be of use.
 * @param state `draw`: chance in [0, 1), so that many that failed together do not come back together
 */
export const nextTry = (
  failed: Failure,
  state: { readonly tries: TriesByClass; readonly now: EpochMs; readonly draw: number },
): NextTry => {
  const { tries, now, draw } = state;
  if (failed.resetAt !== undefined && failed.resetAt > now) return { next: 'again', at: failed.resetAt, tries };
  const policy = retryPolicies[failed.class];
  const used = tries[failed.class] ?? 0;
  if (used >= policy.triesMax) {
    const after = policy.triesMax === 0 ? '' : ` after ${used} more tries`;
    return { next: 'person', why: `A person is needed${after} (${failed.class}): ${failed.message}` };
  }
  const waitMs = Math.min(policy.firstMs * 2 ** used, policy.longestMs) * (0.5 + draw / 2);
  return { next: 'again', at: epochMs(Math.ceil(now + waitMs)), tries: { ...tries, [failed.class]: used + 1 } };
};
