import type { AgentAdapter } from '../agent/index.ts';
import type { AgentRunResult } from '../core/agent-result.ts';
import type { RunExit } from '../core/exit.ts';
import type { CommitSha, EpochMs, EvidenceHash, RunId } from '../core/ids.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import type { Spend } from '../core/spend.ts';
import type { AttemptRecord } from '../core/stop.ts';
import type { Task } from '../core/task.ts';
import type { Verdict } from '../core/verdict.ts';
import type { TaskTracker } from '../connect/index.ts';
import type { Discoverer, Discovery } from '../discover/index.ts';
import type { Wake } from '../dispatch/index.ts';
import type { Engine, JournalReader, RunContext } from '../journal/index.ts';
import type { Lander, Landed } from '../land/index.ts';
import type { ProcessSpec } from '../process/index.ts';
import type { EvidenceStore, Verifier } from '../verify/index.ts';
import type { Candidate, CheckoutFingerprint, Dependencies, GitSetup, WorkspaceManager } from '../workspace/index.ts';

/** What a run starts from. Frozen in the journal; a retry brings a new one with the loop as it is then. */
export interface RunInput {
  /** The task with long texts cut for display. */
  readonly task: Task;
  /** The whole task, in the evidence store: an issue's text may be larger than a journal entry. */
  readonly taskText: EvidenceHash;
  readonly loop: LoopDefinition;
  readonly base: CommitSha;
  /** The loop's folder inside the repository, '' for its root. */
  readonly prefix: string;
  /** First attempt of this stretch: 1, or the one after the last when a person retries. */
  readonly firstAttempt: number;
  /** The tick that opened this stretch of the run; empty when a person did. */
  readonly tick: string;
  /** What earlier runs tried at the task; empty where there were none. Untrusted text. */
  readonly tried: string;
}

/** How a run ended, as its handler returns it. */
export interface RunOutput {
  readonly exit: RunExit;
  readonly landed: Landed | undefined;
  readonly evidence: EvidenceHash | undefined;
  readonly spend: Spend;
  /** `next-tick`: nothing was wrong with the task, so the next tick opens the run again by itself (login, quota). */
  readonly again: 'next-tick' | 'by-person';
  /** What has to come before it may go on, where that is known: the end of a quota, an instant. */
  readonly wake?: Wake | undefined;
}

/** One attempt as lists and `show` print it; kept in the run's view. */
export interface AttemptView {
  readonly record: AttemptRecord;
  readonly candidate: CommitSha | undefined;
  readonly evidence: EvidenceHash | undefined;
  readonly prompt: EvidenceHash;
  readonly verdict: Verdict | undefined;
  readonly agent:
    | Pick<
        AgentRunResult,
        'agent' | 'session' | 'result' | 'process' | 'usage' | 'spend' | 'text' | 'stdout' | 'stderr' | 'usageSource' | 'retries'
      >
    | undefined;
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs;
}

/** Everything the cycle needs, built by the command line. */
export interface LoopParts {
  readonly engine: Engine;
  readonly reader: JournalReader;
  readonly workspaces: WorkspaceManager;
  readonly verifier: Verifier;
  readonly lander: Lander;
  readonly evidence: EvidenceStore;
  readonly discoverer: Discoverer;
  /** Notes on issues. @throws Fault `FORGE_NOT_SET_UP` where it is not known where they are */
  readonly notes: () => Promise<TaskTracker>;
  /** @param prefix the loop's folder inside the repository */
  readonly agentFor: (loop: LoopDefinition, prefix: string) => AgentAdapter;
  readonly promptFor: PromptComposer;
  readonly resolveBase: (target: string | undefined) => Promise<CommitSha>;
  readonly readFile: (commit: CommitSha, path: string) => Promise<string | undefined>;
  readonly fingerprint: () => Promise<CheckoutFingerprint>;
  readonly differences: (before: CheckoutFingerprint, after: CheckoutFingerprint) => readonly string[];
  readonly gitSetup: () => Promise<GitSetup>;
  readonly gitSetupChanges: (before: GitSetup, after: GitSetup) => readonly string[];
  /** A set-up command in a workspace, as a process. */
  readonly setupSpec: (request: SetupRequest) => ProcessSpec;
  /** Keeps what set-up made for other checkouts; absent where nothing is owned. */
  readonly dependencies?: Dependencies;
  /** Makes room on the disk for another workspace; says why there is none. */
  readonly makeRoom?: (run: RunId) => Promise<string | undefined>;
  readonly sweep: (marker: string) => Promise<number>;
  readonly readFileBytes: (path: string) => Promise<Buffer>;
  readonly clock: () => EpochMs;
  /** In [0, 1). */
  readonly chance: () => number;
  /** Any commit as something to judge: a merge of a candidate with what landed meanwhile. */
  readonly candidateOf: (commit: CommitSha, base: CommitSha) => Promise<Candidate>;
  readonly newRunId: () => RunId;
}

export interface SetupRequest {
  readonly dir: string;
  readonly prefix: string;
  readonly command: string;
  readonly timeoutMs: number;
  readonly marker: string;
}

export type PromptComposer = (request: {
  readonly definition: LoopDefinition;
  readonly task: Task;
  readonly attempt: number;
  readonly previous: PreviousAttempt | undefined;
  readonly tried: string;
}) => string;

/** What the next attempt is told of the last one. Untrusted text inside. */
export interface PreviousAttempt {
  readonly summary: string;
  readonly verdict: Verdict;
}

/** Where an open run is, for lists: visible state, not history. */
export interface RunNow {
  readonly attempt: number;
  readonly stage: 'set-up' | 'agent' | 'verdict' | 'landing';
  /** Of the run, when this was said. */
  readonly generation: number;
}

/** What happens while a tick runs, for whoever shows it. */
export type TickEvent =
  | { readonly event: 'run-recovered'; readonly run: RunId; readonly title: string }
  | { readonly event: 'discovered'; readonly discovery: Discovery; readonly ms: number }
  | { readonly event: 'skipped'; readonly task: Task; readonly why: string }
  | { readonly event: 'run-started'; readonly run: RunId; readonly task: Task; readonly reopened: boolean }
  | { readonly event: 'attempt-started'; readonly run: RunId; readonly attempt: number; readonly agent: string }
  | {
      readonly event: 'agent-ended';
      readonly run: RunId;
      readonly attempt: number;
      readonly outcome: string;
      readonly spend: Spend;
      readonly noModel: boolean;
    }
  | { readonly event: 'verdict'; readonly run: RunId; readonly attempt: number; readonly verdict: Verdict; readonly summary: string }
  | { readonly event: 'note-refused'; readonly run: RunId; readonly why: string }
  | { readonly event: 'run-ended'; readonly run: RunId; readonly title: string; readonly output: RunOutput };

/** What a tick starts from. Frozen in the journal. */
export interface TickInput {
  readonly loop: LoopDefinition;
  /** The loop's folder inside the repository, '' for its root. */
  readonly prefix: string;
  /** What fired it, for people: `schedule`, `every`, `webhook`, `manual` ... */
  readonly trigger: string;
  /** Ended runs to go on with, their condition having come; nothing is discovered then. Empty: an ordinary tick. */
  readonly wakes: readonly RunId[];
}

/** Gives each run its own place to tell what happens. */
export type TickReporter = (context: RunContext) => (event: TickEvent) => void;

export interface EndedRun {
  readonly run: RunId;
  readonly title: string;
  readonly output: RunOutput;
}

/** How a tick ended, as its handler returns it. */
export interface TickOutput {
  readonly base: CommitSha;
  /** The discovery and the decisions, in the evidence store: a thousand tasks do not fit a journal entry. */
  readonly discovery: EvidenceHash;
  readonly planned: EvidenceHash;
  readonly runs: readonly EndedRun[];
  /** Set when later tasks were not started because the agent cannot work at all. */
  readonly halted: string | undefined;
  readonly exitCode: number;
}

/** What the tick decided about one discovered task. */
export type Admission =
  | { readonly admit: 'start'; readonly task: Task }
  | { readonly admit: 'reopen'; readonly task: Task; readonly run: RunId }
  | { readonly admit: 'skip'; readonly task: Task; readonly why: string; readonly needsPerson: boolean };
