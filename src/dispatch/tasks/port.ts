import type { EpochMs } from '../../core/ids.ts';
import type { Spend } from '../../core/spend.ts';
import type { Task } from '../../core/task.ts';
import type { FailureClass } from '../failure.ts';
import type { TriesByClass } from '../retry-policy.ts';
import type { Wake } from '../wake.ts';

/** By what a task is recognised. */
export interface TaskIdentity {
  readonly key: string;
  readonly source: string;
  readonly title: string;
  /** Of title and body; hash of the text without regard to white space. */
  readonly textHash: string;
  /** Of what was observed, with what changes from run to run and the name of the test taken out; empty where nothing was. */
  readonly failureHash: string;
  readonly test: { readonly command: string; readonly id: string; readonly file: string | undefined } | undefined;
  readonly list: string | undefined;
  readonly claim: string | undefined;
}

export type TaskState =
  | 'open'
  /** A run is at work on it. */
  | 'claimed'
  /** It waits for `wake`. */
  | 'parked'
  /** Its change waits to be brought in. */
  | 'delivered'
  | 'landed'
  /** Its source does not name it any more. */
  | 'vanished'
  /** Given up by a person. */
  | 'closed';

/** One run that was made at it. */
export interface Tried {
  readonly run: string;
  readonly at: EpochMs;
  readonly attempts: number;
  readonly exit: string;
  /** Set when it failed. */
  readonly class: FailureClass | undefined;
  /** What came of it in one sentence. Untrusted text inside. */
  readonly summary: string;
  readonly spend: Spend;
}

/** What is remembered of a task in one loop. Plain JSON, for a register, under `id`. */
export interface TaskRecord {
  /** Stays when the task is renamed or edited. */
  readonly id: string;
  readonly loop: string;
  readonly identity: TaskIdentity;
  /** Keys it had before, newest last. */
  readonly formerKeys: readonly string[];
  readonly state: TaskState;
  /** Set while it is parked. */
  readonly wake: Wake | undefined;
  readonly firstSeenAt: EpochMs;
  readonly lastSeenAt: EpochMs;
  /** How often it came back after it had landed, vanished or been closed. */
  readonly reopened: number;
  /** The newest runs, oldest first. */
  readonly tried: readonly Tried[];
  /** Of all runs, also those that `tried` has dropped. */
  readonly runs: number;
  readonly spend: Spend;
  readonly tries: TriesByClass;
}

/** What a discovery gave, as recognition needs it. */
export interface FoundTasks {
  readonly loop: string;
  readonly tasks: readonly Task[];
  /** Keys of what was seen and set aside: there, and not a task now. */
  readonly setAside: readonly string[];
  /** Sources that were not read whole. */
  readonly unread: readonly string[];
}

/** What became of one task. `record` is as it is to be kept from now on. */
export type TaskMatch =
  | { readonly match: 'new' | 'same' | 'edited' | 'renamed' | 'reopened'; readonly record: TaskRecord; readonly task: Task }
  /** Its run is to be closed: the work is gone from its source. */
  | { readonly match: 'vanished'; readonly record: TaskRecord };
