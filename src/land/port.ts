import type { CommitSha, EvidenceHash, RunId } from '../core/ids.ts';
import type { LandingKind } from '../core/loop-definition.ts';

export interface LandRequest {
  readonly as: LandingKind;
  readonly run: RunId;
  readonly loop: string;
  readonly taskTitle: string;
  readonly taskKey: string;
  readonly base: CommitSha;
  readonly candidate: CommitSha;
  /** Branch for `merge` and `pull-request`, short name; a pull request without one goes to the branch that is checked out. */
  readonly target: string | undefined;
  readonly evidence: EvidenceHash;
  readonly sign: 'auto' | 'never';
  /** For `merge` onto a target that has moved: judges the combined commit; only `true` lands it (L4). */
  readonly verifyCombined: (
    commit: CommitSha,
    base: CommitSha,
  ) => Promise<{ readonly pass: boolean; readonly why: string; readonly evidence: EvidenceHash }>;
}

export type Landed =
  | { readonly landed: 'report'; readonly commit: CommitSha }
  | { readonly landed: 'patch'; readonly file: string; readonly commit: CommitSha }
  | { readonly landed: 'branch'; readonly branch: string; readonly commit: CommitSha }
  | { readonly landed: 'merge'; readonly target: string; readonly commit: CommitSha }
  /** `branch` is that of `origin`; none is made here. */
  | { readonly landed: 'pull-request'; readonly number: number; readonly url: string; readonly branch: string; readonly commit: CommitSha }
  /** Not landed; the work is kept under `ref`. */
  | { readonly landed: 'no'; readonly why: string; readonly ref: string };

export interface Lander {
  land(request: LandRequest): Promise<Landed>;
  /** What the world shows of an earlier landing of this run, for settling a step whose outcome is unknown. */
  find(request: Pick<LandRequest, 'run' | 'as' | 'target'>): Promise<Landed | undefined>;
  /** For a delivered run: is its change on the target by now, still waiting, or gone? @throws Fault when a pull request cannot be looked up */
  fate(
    landed: Landed,
    on: { readonly tip: CommitSha | undefined; readonly target: string | undefined },
  ): Promise<'on-target' | 'waiting' | 'gone'>;
}
