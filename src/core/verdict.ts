import type { CommitSha, EvidenceHash } from './ids.ts';
import type { TestReport } from './test-report.ts';

/** One run of one check command. Everything is observed by Gyre; nothing is claimed. */
export interface CheckObservation {
  readonly command: string;
  readonly cwd: string;
  /** `ran`: the command ended by itself. All else is never a pass (L2). */
  readonly end: 'ran' | 'timed-out' | 'killed' | 'not-started' | 'setup-failed';
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  readonly report: TestReport;
  /** Plain text of stdout and stderr together, cut with a note. */
  readonly output: string;
  /** The same, whole as kept, in the evidence store. */
  readonly outputHash: EvidenceHash;
  /** Why `end` is not `ran`, or what weakens a run that did (no `pipefail` on this machine). One sentence; empty when there is nothing to say. */
  readonly problem: string;
}

/** A check on the base commit, run one or more times so that what is sometimes red is known. */
export interface Baseline {
  readonly commit: CommitSha;
  readonly runs: readonly CheckObservation[];
}

/** A check on the candidate: as committed, and (when the candidate changed tests or gates) with those files as they were on base. */
export interface CheckOnCandidate {
  readonly name: string;
  readonly command: string;
  readonly base: Baseline;
  readonly candidate: CheckObservation;
  readonly pinned: CheckObservation | undefined;
  /** The files that stood as on base in the pinned run; empty when there was none. */
  readonly pinnedFiles: readonly string[];
}

/** What a guard over the diff found. */
export interface GuardFinding {
  readonly guard: 'protected-file' | 'gate-definition' | 'unfinished-git-operation' | 'empty-change' | 'checkout-changed' | 'moved-refs';
  /** `refuse` fails the verdict; `note` is shown. */
  readonly weight: 'refuse' | 'note';
  readonly paths: readonly string[];
  readonly sentence: string;
}

export type FailureReason = {
  /** `cheat`: a protected file or a gate definition was changed, or green only with changed tests. */
  readonly kind: 'task-still-red' | 'newly-failing' | 'check-red' | 'cheat' | 'empty-change' | 'unfinished';
  readonly sentence: string;
  /** What was red, sorted: test ids, or `check <name>` where only an exit code spoke. Empty for reasons that are not about a check. */
  readonly failing: readonly string[];
  /** Failure text for the next attempt, plain, cut. Untrusted. */
  readonly evidence: string;
};

export type Verdict =
  | { readonly verdict: 'pass'; readonly notes: readonly string[] }
  | { readonly verdict: 'fail'; readonly reasons: readonly FailureReason[]; readonly notes: readonly string[] }
  /** `reasons`: definite failures that were seen beside what could not be judged. */
  | {
      readonly verdict: 'inconclusive';
      readonly why: readonly string[];
      readonly reasons: readonly FailureReason[];
      readonly notes: readonly string[];
    };

/** A file that defines a check and was changed by the candidate: SHA-256 of its text on both sides, `null` where it does not exist. */
export interface GateFile {
  readonly path: string;
  readonly base: string | null;
  readonly candidate: string | null;
}

/** The verdict as it stands in the evidence store, with all it rests on. */
export interface VerdictRecord {
  readonly format: 'gyre.verdict/1';
  readonly run: string;
  readonly attempt: number;
  readonly task: string;
  readonly base: CommitSha;
  readonly candidate: CommitSha;
  readonly tree: string;
  readonly guards: readonly GuardFinding[];
  readonly gateFiles: readonly GateFile[];
  readonly checks: readonly CheckOnCandidate[];
  /** Versions of what ran the checks, e.g. `{ node: 'v24.1.0', git: '2.45.0' }`. */
  readonly tools: Readonly<Record<string, string>>;
  readonly verdict: Verdict;
}
