import type { EpochMs } from '../core/ids.ts';

/**
 * Whose failure it was, in classes that decide who is asked again and when.
 * - `task`: the work itself did not succeed
 * - `check`: what should have judged it gave no verdict
 * - `agent`: the coding agent broke down
 * - `provider`: the model's service did not serve
 * - `machine`: disk, git, processes, Gyre itself
 * - `configuration`: what a person has set up does not work: login, account, program, set-up command, settings
 */
export type FailureClass = 'task' | 'check' | 'agent' | 'provider' | 'machine' | 'configuration';

/** One failed run, as retries and breakers need it. Plain JSON. */
export interface Failure {
  readonly class: FailureClass;
  /** Equal for the same failure in another run or of another task: times, paths and numbers of requests are not part of it. */
  readonly fingerprint: string;
  /** One sentence for people. Untrusted text inside. */
  readonly message: string;
  /** When the provider said it serves again; `undefined` where it did not say. */
  readonly resetAt: EpochMs | undefined;
}
