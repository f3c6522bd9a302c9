import type { CommitSha } from '../core/ids.ts';

/** The user's repository, looked at and never changed but for refs under `refs/gyre/` and landings. */
export interface Repository {
  /** Top folder of the work tree the user stands in; the git folder itself for a bare repository. Absolute, real path. */
  readonly root: string;
  /** The shared git folder (`--git-common-dir`), absolute, real path. Names the state home. */
  readonly commonDir: string;
  readonly bare: boolean;
  /** Folder the command was started in, relative to `root`, `/`-separated, '' for the root. */
  readonly prefix: string;
}

export interface WorkspaceInfo {
  readonly run: string;
  readonly dir: string;
  readonly base: CommitSha;
  /** Why it is still there; empty when nothing speaks against removal. */
  readonly holds: readonly ('uncommitted-changes' | 'unlanded-commits' | 'submodule-changes' | 'live-run')[];
  readonly bytes: number;
  readonly createdAt: number;
}

/** The tree an attempt left behind, committed by Gyre under `refs/gyre/runs/<run>/a<attempt>`. */
export interface Candidate {
  readonly commit: CommitSha;
  readonly tree: string;
  readonly base: CommitSha;
  /** Paths changed against base, exact (no quoting), `/`-separated; a rename gives both names. */
  readonly changed: readonly string[];
  /** Files of the work tree that were deliberately not committed, with the reason. */
  readonly leftOut: readonly { readonly path: string; readonly why: string }[];
  /** An operation the agent left half done (`rebase`, `merge`, `cherry-pick`, `revert`, `bisect`); empty if none. */
  readonly unfinished: string;
  /** Commits made by the agent in this workspace since base that the candidate contains. */
  readonly agentCommits: number;
  /** The user's refs that the agent moved or pushed to, one sentence each. Absent in candidates of older versions. */
  readonly movedRefs?: readonly string[];
  /** What the agent did besides: branch switched, branches made. One sentence each. */
  readonly notes: readonly string[];
}

export interface WorkspaceManager {
  /** Makes the worktree of a run at `base`, submodules filled, or returns the one that exists. Detached HEAD; no branch is made. */
  open(run: string, base: CommitSha): Promise<{ readonly dir: string }>;
  /** Commits whatever the tree holds and names it by the attempt's ref. Calling it again for the same attempt returns the same candidate.
   * @throws Fault `WORKSPACE_MISSING` when the folder or its git link is gone */
  commit(run: string, attempt: number, base: CommitSha, message: string): Promise<Candidate>;
  /** The candidate of an attempt if its ref exists. */
  candidate(run: string, attempt: number, base: CommitSha): Promise<Candidate | undefined>;
  /** Removes the folder if nothing unlanded is in it (`landed` names commits whose trees are safe elsewhere). Returns what spoke against it.
   * @param mayRemove asked right before: where the run was opened again meanwhile, its folder stays and holds `live-run` */
  release(run: string, landed: readonly CommitSha[], mayRemove?: () => boolean): Promise<readonly WorkspaceInfo['holds'][number][]>;
  list(liveRuns: readonly string[]): Promise<readonly WorkspaceInfo[]>;
  /** Removes a named workspace even with work in it, after saving that work under `refs/gyre/saved/<run>`; returns the ref, if there was any work. */
  free(run: string): Promise<{ readonly savedAs: string | undefined }>;
  /** A fresh checkout of exactly one commit for checks: a clone of its own that shares objects, with no link back that a check could write through.
   * Files named in `pinned` stand as they are in `pinnedFrom` (deleted there = deleted here). The folder is new or made new. */
  cleanRoom(
    name: string,
    commit: CommitSha,
    pin?: { readonly from: CommitSha; readonly paths: readonly string[] },
  ): Promise<{ readonly dir: string }>;
  discardCleanRoom(name: string): Promise<void>;
}

/** What decides how git behaves in a repository (settings, hooks, attributes, replaced objects): name to value or hash. */
export type GitSetup = Readonly<Record<string, string>>;

/** What of the user's checkout must be the same before and after (L6): one hash a thing, for comparing. */
export interface CheckoutFingerprint {
  readonly head: string;
  readonly index: string;
  readonly config: string;
  readonly stash: string;
  /** Path to hash of every file git reports as changed or untracked, and of tracked ones by stat. */
  readonly status: string;
}
