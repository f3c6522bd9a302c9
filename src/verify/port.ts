import type { CommitSha, EvidenceHash } from '../core/ids.ts';
import type { CheckDefinition } from '../core/loop-definition.ts';
import type { Task } from '../core/task.ts';
import type { ReportFormat, TestReport } from '../core/test-report.ts';
import type { Baseline, CheckObservation, GuardFinding, VerdictRecord } from '../core/verdict.ts';
import type { ProcessResult, ProcessSpec } from '../process/index.ts';
import type { Candidate, WorkspaceManager } from '../workspace/index.ts';

/** Content-addressed store: `<stateHome>/evidence/<first two>/<sha256>`. Writes are by fsync and rename; the same bytes are stored once. */
export interface EvidenceStore {
  put(bytes: Uint8Array | string): Promise<EvidenceHash>;
  /** @throws Fault `EVIDENCE_MISSING`, or `EVIDENCE_CORRUPT` when the bytes do not match their name */
  get(hash: EvidenceHash): Promise<Buffer>;
  path(hash: EvidenceHash): string;
}

/** Text of a file in a commit, `undefined` if it does not exist there. Path relative to the repository root. */
export type ReadFileAt = (commit: CommitSha, path: string) => Promise<string | undefined>;

/** Reads what a test command printed or wrote; `file` is the text of the report file. Never throws on what a command printed. */
export type ReadReport = (input: {
  readonly stdout: string;
  readonly stderr: string;
  readonly file?: string;
  readonly format?: ReportFormat;
  readonly cwd?: string;
}) => TestReport;

/** Files that stand as on another commit in a clean room. Paths relative to the repository root. */
export interface CheckPin {
  readonly from: CommitSha;
  /** Whole files; deleted there = deleted here. */
  readonly paths: readonly string[];
  /** Files of which only a part is held: their full text. */
  readonly patches: readonly { readonly path: string; readonly text: string }[];
}

/** Runs a process and waits for its end; in a run this is `ctx.spawn`, so results are durable and keyed. */
export type RunProcess = (key: string, spec: ProcessSpec) => Promise<ProcessResult>;

export interface CheckRunner {
  /** Runs one check in a fresh clean room of a commit: set-up, then the command in `prefix`, and reads its report. */
  observe(request: {
    readonly key: string;
    readonly check: CheckDefinition;
    readonly commit: CommitSha;
    readonly pin: CheckPin | undefined;
    /** Folder of the repository in which checks run, '' for its root. */
    readonly prefix: string;
    readonly setup: string | undefined;
    readonly setupTimeoutMs: number;
    /** Dependency folders that set-up fills; none where missing. */
    readonly share?: readonly string[];
    readonly run: RunProcess;
    /** The commit is one of the user's own: what set-up fills may be kept. */
    readonly ofUser?: boolean;
  }): Promise<CheckObservation>;
  /** The check on a base commit, run `times` times; kept on disk per (commit, check, prefix, set-up), so that a tick pays once. */
  baseline(request: {
    readonly key: string;
    readonly check: CheckDefinition;
    readonly commit: CommitSha;
    readonly times: number;
    readonly prefix: string;
    readonly setup: string | undefined;
    readonly setupTimeoutMs: number;
    /** Dependency folders that set-up fills; none where missing. */
    readonly share?: readonly string[];
    readonly run: RunProcess;
  }): Promise<Baseline>;
}

export interface VerifyRequest {
  readonly run: string;
  readonly attempt: number;
  readonly task: Task;
  readonly candidate: Candidate;
  readonly checks: readonly CheckDefinition[];
  readonly protect: readonly string[];
  readonly prefix: string;
  readonly setup: string | undefined;
  readonly setupTimeoutMs: number;
  readonly share?: readonly string[];
  /** Findings made outside (the user's checkout changed, refs moved). */
  readonly findings: readonly GuardFinding[];
  readonly process: RunProcess;
  readonly signal: AbortSignal;
}

export interface Verifier {
  verify(request: VerifyRequest): Promise<{ readonly record: VerdictRecord; readonly evidence: EvidenceHash }>;
}

export type WorkspaceForChecks = Pick<WorkspaceManager, 'cleanRoom' | 'discardCleanRoom'>;
