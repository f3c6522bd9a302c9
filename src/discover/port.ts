import type { CommitSha } from '../core/ids.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import type { Task } from '../core/task.ts';
import type { IssueTracker } from '../connect/index.ts';
import type { CheckRunner, RunProcess } from '../verify/index.ts';

/** Something that looked like a task and is not one, with the reason: flaky, skipped by limit. Shown, never dropped in silence (L15). */
export interface SetAside {
  readonly key: string;
  readonly title: string;
  readonly why: string;
}

export interface Discovery {
  /** Ranked, one a key. */
  readonly tasks: readonly Task[];
  readonly setAside: readonly SetAside[];
  /** Sources that could not be read, one sentence each. A source that failed is not an empty one. */
  readonly problems: readonly string[];
  /** Names of the sources whose tasks may not all be here: a task of theirs that is missing is not gone. */
  readonly unread: readonly string[];
}

export interface DiscoverRequest {
  readonly loop: LoopDefinition;
  readonly base: CommitSha;
  readonly prefix: string;
  readonly run: RunProcess;
}

/** `why` is a reason for people, as the end of a sentence. */
export type StillOpen = { readonly open: true } | { readonly open: false; readonly why: string };

export interface Discoverer {
  discover(request: DiscoverRequest): Promise<Discovery>;
  /**
   * Whether a task found earlier is still to be done on this base. An issue is looked up where it is tracked; a task with a test or a
   * command of its own is tried; one with neither is open.
   * @throws Fault when an issue could not be looked up
   */
  stillOpen(request: DiscoverRequest & { readonly task: Task }): Promise<StillOpen>;
}

export interface DiscoverParts {
  readonly checks: CheckRunner;
  /** Text of a file in a commit, `undefined` if it does not exist there. Path relative to the repository root. */
  readonly readFile: (commit: CommitSha, path: string) => Promise<string | undefined>;
  /** A checkout of the base for `command:` sources; discarded afterwards. */
  readonly withCheckout: <T>(commit: CommitSha, use: (dir: string) => Promise<T>) => Promise<T>;
  /** Issues of the repository. @throws Fault `FORGE_NOT_SET_UP` where it is not known where they are */
  readonly issues: () => Promise<IssueTracker>;
  /** The complete environment of `command:` sources. */
  readonly env: Readonly<Record<string, string>>;
}
