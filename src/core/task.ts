import type { TaskKey } from './ids.ts';

/** Who is believed to have written a text (L12). `trusted` is what the loop's owner wrote; `repository` what stands in the code base
 * or came out of it (a test's failure text); `outside` anything else. A label never rises on the way. */
export type Trust = 'trusted' | 'repository' | 'outside';

/** What makes this task done, beyond the loop's goal. */
export type TaskProof =
  /** The named test of the named command must be red on base and green on the candidate. `file` may be unknown (`undefined`). */
  | { readonly by: 'test'; readonly command: string; readonly test: string; readonly file: string | undefined }
  /** The command's exit code as a whole must be red on base and green on the candidate. */
  | { readonly by: 'command'; readonly command: string }
  /** Nothing of its own: the loop's checks decide. */
  | { readonly by: 'checks' };

/** A normalised piece of work. */
export interface Task {
  readonly key: TaskKey;
  readonly title: string;
  readonly body: string;
  /** What was observed, cut with a note. Untrusted text. */
  readonly evidence: string;
  /** Higher is sooner. 0 where the source says nothing. */
  readonly priority: number;
  /** Globs of files the work is expected to touch; empty means not said. */
  readonly touches: readonly string[];
  readonly trust: Trust;
  /** The discovery entry that found it, for people: `tests: npm test`. */
  readonly source: string;
  readonly proof: TaskProof;
  /** The item of a task list this task is, so that its box can be ticked when it lands. Line from 1, file relative to the loop's folder. */
  readonly list?: { readonly file: string; readonly line: number } | undefined;
  /** What it is called where others can see it, e.g. `github:owner/repo#12`: whoever works on it claims this name first, over all clones. */
  readonly claim?: string | undefined;
  /** Keys of tasks that must have landed before this one is begun; none means it can be. */
  readonly needs?: readonly TaskKey[] | undefined;
}

/** What no two runs may work on at once: its name in the outside world where it has one, else its key. */
export const ownershipKeyOf = (task: Pick<Task, 'key' | 'claim'>): string => task.claim ?? task.key;

/** Highest priority first, then by key, so that two discoveries of the same world give the same order. */
export const rankTasks = (tasks: readonly Task[]): readonly Task[] =>
  tasks.toSorted((a, b) => b.priority - a.priority || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));

/** One task a key: the first source to name it wins, because sources stand in the order the owner wrote them. */
export const dedupeTasks = (tasks: readonly Task[]): readonly Task[] => {
  const seen = new Set<string>();
  return tasks.filter((task) => !seen.has(task.key) && seen.add(task.key));
};
