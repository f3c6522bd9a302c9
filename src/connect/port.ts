// What Gyre needs of a place where work is tracked and changes are proposed. One adapter a service; `github/` is the first.
import type { EpochMs } from '../core/ids.ts';

/** An issue as somebody wrote it: untrusted text, as long as the service allows. */
export interface Issue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly state: 'open' | 'closed';
  readonly url: string;
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
}

export interface IssueFilter {
  /** Every one of these. */
  readonly labels: readonly string[];
  /** A login, `none` for nobody, `*` for anybody; `undefined`: whoever. */
  readonly assignee: string | undefined;
}

export interface IssueList {
  /** Oldest first. Pull requests are not among them. */
  readonly issues: readonly Issue[];
  /** A sentence when the service had more than was read. */
  readonly problems: readonly string[];
}

export interface IssueTracker {
  /** `owner/name`. */
  readonly repository: string;
  /** Open issues from all pages. */
  openIssues(filter: IssueFilter): Promise<IssueList>;
  /** `undefined` for one that was deleted or moved to another repository. */
  issue(number: number): Promise<Issue | undefined>;
}

/** Something Gyre wrote on an issue. */
export interface Note {
  readonly id: number;
  readonly url: string;
  /** Whole, with its mark. */
  readonly text: string;
}

/** One status note a task, edited and never repeated. */
export interface TaskTracker {
  /** `owner/name`. */
  readonly repository: string;
  /** The note that begins with this mark and that this account wrote; all pages are looked at. */
  findNote(issue: number, mark: string): Promise<Note | undefined>;
  /** Looks first, then makes or edits: safe to do again after an unclear end (L5). `text` begins with `mark`. */
  putNote(issue: number, note: { readonly mark: string; readonly text: string }): Promise<Note>;
}

export interface PullRequest {
  readonly number: number;
  readonly url: string;
  readonly state: 'open' | 'merged' | 'closed';
  /** Tip of its branch as the service knows it. */
  readonly head: string;
  readonly body: string;
}

export interface PullRequests {
  readonly repository: string;
  /** All of a branch of the remote named `origin`, newest first, closed ones too. */
  ofBranch(branch: string): Promise<readonly PullRequest[]>;
  get(number: number): Promise<PullRequest>;
  open(wanted: { readonly branch: string; readonly target: string; readonly title: string; readonly body: string }): Promise<PullRequest>;
  /** Name of the branch that pull requests are merged onto where nobody says otherwise. */
  defaultBranch(): Promise<string>;
}

/**
 * A repository on such a service. Calls throw `Fault`:
 * - `FORGE_UNREACHABLE` no answer, or not within its time; a write may have been done all the same
 * - `FORGE_FAILED` the service said that it failed (5xx); the same holds
 * - `FORGE_LIMITED` too many requests; `data.resetAt` (`EpochMs`) says when it serves again
 * - `FORGE_REFUSED` it understood and declined; `data.status` is the HTTP status
 * - `FORGE_ANSWER` an answer that is not what the service documents, or too large
 */
export interface Forge {
  readonly issues: IssueTracker;
  readonly notes: TaskTracker;
  readonly pullRequests: PullRequests;
}

/** Where a forge is and who asks. */
export interface ForgeAddress {
  /** Base address without a slash at the end. */
  readonly api: string;
  readonly owner: string;
  readonly name: string;
  /** Owner of the repository that `origin` is: another one where changes are pushed to a fork. */
  readonly headOwner: string;
  readonly token: string;
}

/** The clock and the waits of a client, which a test gives its own. */
export interface ForgeTime {
  readonly now: () => EpochMs;
  readonly pause: (ms: number) => Promise<void>;
}
