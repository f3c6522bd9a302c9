import { knownSpend, type Spend } from './spend.ts';
import type { RunExit } from './exit.ts';

/** The outcome text of an agent that found its prompt too long; the next prompt is made shorter, and the second time ends the run. */
export const contextOverflow = 'limit: context';

/** What one finished attempt left behind, as far as stop rules care. */
export interface AttemptRecord {
  readonly attempt: number;
  /** Git tree of the candidate: equal trees are equal work. */
  readonly tree: string;
  readonly verdict: 'pass' | 'fail' | 'inconclusive';
  /** Kinds of the failure reasons, e.g. `cheat`. */
  readonly kinds: readonly string[];
  /** Ids of what was red, sorted. */
  readonly failing: readonly string[];
  /** Normalised failure texts. */
  readonly fingerprint: string;
  /** Beginning of the normalised failure text, for people. */
  readonly failure: string;
  /** One sentence a person understands. */
  readonly summary: string;
  readonly spend: Spend;
  readonly agentOutcome: string;
  /** Set when the agent could not work at all (login, quota, network, configuration). */
  readonly blocked: string | undefined;
}

export interface StopPolicy {
  readonly attempts: number;
  /** So many attempts in a row without changed state end the run. */
  readonly noProgress: number;
  /** So many attempts in a row with the same failure end the run, whatever changed in the files. */
  readonly sameFailure: number;
  readonly timeMs: number;
  readonly budgetUsd: number | undefined;
  readonly budgetTokens: number | undefined;
}

/** Where this stretch of the run began: a retry by a person opens a new one, so old stagnation does not end it at once. */
export interface Stretch {
  readonly firstAttempt: number;
  readonly elapsedMs: number;
}

export type NextStep = { readonly next: 'attempt' } | { readonly next: 'land' } | { readonly next: 'close'; readonly exit: RunExit };

const stop = (by: Extract<RunExit, { exit: 'stopped' }>['by'], why: string): NextStep => ({
  next: 'close',
  exit: { exit: 'stopped', by, why },
});
const park = (why: string): NextStep => ({ next: 'close', exit: { exit: 'parked', why } });

const sameState = (a: AttemptRecord, b: AttemptRecord): boolean =>
  a.tree === b.tree && a.fingerprint === b.fingerprint && a.failing.join('\n') === b.failing.join('\n');

/** How many records at the end of the list are alike under `alike`, the last one counted. */
const tailAlike = (records: readonly AttemptRecord[], alike: (a: AttemptRecord, b: AttemptRecord) => boolean): number => {
  const last = records.at(-1);
  if (last === undefined) return 0;
  let count = 0;
  for (const record of records.toReversed()) {
    if (!alike(record, last)) break;
    count += 1;
  }
  return count;
};

/**
 * Decides what follows the attempts made so far (L3, L9). Pure.
 *
 * A pass wins over every limit, also on the last allowed attempt. Then, in this order: an agent that cannot work, a second cheat,
 * oscillation, no progress, the same failure, and the used-up limits.
 * @param records all attempts of the run, oldest first
 */
export const decideNext = (records: readonly AttemptRecord[], policy: StopPolicy, stretch: Stretch): NextStep => {
  const last = records.at(-1);
  if (last === undefined)
    return policy.attempts < 1 ? stop('attempts', 'stop.attempts is 0, so no attempt may be made.') : { next: 'attempt' };
  if (last.verdict === 'pass') return { next: 'land' };

  const recent = records.filter((record) => record.attempt >= stretch.firstAttempt);
  if (recent.length > 0) {
    if (last.blocked !== undefined) return park(`The agent could not work: ${last.blocked}`);
    if (last.kinds.includes('cheat') && recent.filter((record) => record.kinds.includes('cheat')).length >= 2)
      return park(`Refused twice: ${last.summary}`);

    const overflows = tailAlike(recent, (a, b) => a.agentOutcome === contextOverflow && b.agentOutcome === contextOverflow);
    if (overflows >= 2) return park(`The prompt does not fit the agent's context, also after it was cut (${overflows} attempts).`);
    const idle = tailAlike(recent, sameState);
    if (idle >= policy.noProgress)
      return stop('no-progress', `${idle} attempts in a row changed nothing (same files, same failure): ${last.summary}`);
    // A tree that was left and is now back: A, B, A. Work that moves in a circle never ends by itself.
    const before = recent.slice(0, -1);
    const previous = before.at(-1);
    if (previous !== undefined && previous.tree !== last.tree && before.some((record) => sameState(record, last)))
      return stop(
        'oscillation',
        `The work moves in a circle: attempt ${last.attempt} gave the same files and the same failure as an earlier one. ${last.summary}`,
      );
    const same = tailAlike(recent, (a, b) => a.fingerprint === b.fingerprint && a.failing.join('\n') === b.failing.join('\n'));
    if (same >= policy.sameFailure) return park(`Same failure ${same} times: ${last.summary} ${last.failure}`.trim());
  }

  const spent = knownSpend(records.map((record) => record.spend));
  if (policy.budgetUsd !== undefined && spent.usd >= policy.budgetUsd)
    return stop('budget', `$${spent.usd.toFixed(2)} of $${policy.budgetUsd.toFixed(2)} is spent. Raise stop.budget and retry to go on.`);
  if (policy.budgetTokens !== undefined && spent.tokens >= policy.budgetTokens)
    return stop('budget', `${spent.tokens} of ${policy.budgetTokens} tokens are spent. Raise stop.budget and retry to go on.`);
  // An attempt in which the agent could not work at all took nothing from the task's allowance.
  const used = records.filter((record) => record.blocked === undefined).length;
  if (used >= policy.attempts)
    return stop(
      'attempts',
      `${used} of ${policy.attempts} attempts are used. ${last.summary} Raise stop.attempts above ${used} and retry to go on.`,
    );
  if (stretch.elapsedMs >= policy.timeMs)
    return stop(
      'time',
      `${Math.round(stretch.elapsedMs / 1000)} s of ${Math.round(policy.timeMs / 1000)} s are used. Raise stop.time and retry to go on.`,
    );
  return { next: 'attempt' };
};
