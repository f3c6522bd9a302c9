// Facts and rows: what stands in a journal.
import type { EpochMs, RunId } from '../../core/ids.ts';

/** One entry of the journal: append-only, chained by hash. */
export interface Fact {
  readonly seq: number;
  readonly at: EpochMs;
  /** noun.past-participle, e.g. `run.started`, `step.intended`, `verdict.given`. */
  readonly kind: string;
  /** Empty for facts of no run. */
  readonly run: string;
  readonly data: unknown;
  readonly hash: string;
}

/**
 * A run is open until it has ended (`endedAt`).
 *
 * - `pending`: asked for by another process, as a child or by a resume; no execution has begun (again) yet.
 * - `paused`: a person paused it. Effects that run go on to their end, no new one begins; `resume` goes on.
 * - `needs-attention`: only a person can say how to go on; `RunRow.attention` says why, `resume` or `decide` goes on.
 */
export type RunState = 'pending' | 'running' | 'paused' | 'needs-attention' | 'done' | 'failed' | 'cancelled';

/** What an open run waits for now. */
export interface WaitRow {
  readonly key: string;
  readonly on: 'timer' | 'signal';
  /** When a timer fires, or a wait for a signal gives up. */
  readonly until?: EpochMs;
  readonly signal?: string;
  /** What a person who can give the signal is shown. */
  readonly describe?: string;
}

/**
 * Why a run waits for a person. Codes: `STEP_UNKNOWN` (a step with `onCrash: 'ask'` may have happened; `decide` it), `VERSION_UNKNOWN`
 * (no handler of the run's version), `VERSION_UNSUPPORTED` (see `RunContext.version`), `BUDGET_EXHAUSTED`, `HISTORY_FULL`.
 */
export interface Attention {
  readonly code: string;
  readonly message: string;
  /** The step it is about. */
  readonly step?: string;
}

/** Amounts by unit, e.g. `{ usd: 0.4, tokens: 1200 }`. Whole or broken numbers, never negative. */
export type Amounts = Readonly<Record<string, number>>;

export interface RunRow {
  readonly id: RunId;
  readonly loop: string;
  readonly version: number;
  readonly state: RunState;
  /** Counts the times the run was opened; a retry opens the next one. */
  readonly generation: number;
  /** Two open runs never share one. */
  readonly dedupeKey: string;
  readonly input: unknown;
  /** What the handler made visible with `set`. */
  readonly view: Readonly<Record<string, unknown>>;
  readonly output: unknown;
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string } | undefined;
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs | undefined;
  /** The run that started it as a child, and under which of its keys. */
  readonly parent: { readonly run: RunId; readonly key: string } | undefined;
  /** Pending runs begin, and waiting steps get slots, in falling priority, then in the order they were asked for. */
  readonly priority: number;
  readonly labels: Readonly<Record<string, string>>;
  /** At this instant an open run is cancelled. */
  readonly deadlineAt: EpochMs | undefined;
  /** Limit by unit; a unit that is not named has none. */
  readonly budget: Amounts;
  /** Charged so far, the children's charges included. */
  readonly spent: Amounts;
  readonly waits: readonly WaitRow[];
  readonly attention: Attention | undefined;
  /** When its steps, streams, signals and blobs were purged. */
  readonly purgedAt: EpochMs | undefined;
}
