import type { CommitSha } from '../core/ids.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import type { Task } from '../core/task.ts';
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

export interface Discoverer {
  discover(request: DiscoverRequest): Promise<Discovery>;
  /** Whether a task found on an earlier base is still to be done on this one. True where nothing of its own proves it. */
  isStillOpen(request: DiscoverRequest & { readonly task: Task }): Promise<boolean>;
}

export interface DiscoverParts {
  readonly checks: CheckRunner;
  /** Text of a file in a commit, `undefined` if it does not exist there. Path relative to the repository root. */
  readonly readFile: (commit: CommitSha, path: string) => Promise<string | undefined>;
  /** A checkout of the base for `command:` sources; discarded afterwards. */
  readonly withCheckout: <T>(commit: CommitSha, use: (dir: string) => Promise<T>) => Promise<T>;
  /** The complete environment of `command:` sources. */
  readonly env: Readonly<Record<string, string>>;
}
