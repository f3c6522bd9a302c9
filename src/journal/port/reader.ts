// Reading a journal: registers, streams, signals, health. Needs no ownership.
import type { Fault } from '../../core/fault.ts';
import type { EpochMs } from '../../core/ids.ts';
import type { ProcessIdentity } from '../../process/index.ts';
import type { Fact, RunRow, RunState } from './rows.ts';

/** One value of a register: small state that outlives runs (leases, schedules, counters). */
export interface RegisterEntry {
  readonly key: string;
  readonly value: unknown;
  /** Counts from 1; each change adds 1. */
  readonly revision: number;
  readonly changedAt: EpochMs;
}

export interface RegisterChange {
  readonly register: string;
  readonly key: string;
  /** `undefined` removes the entry. */
  readonly value: unknown;
  /** The revision it must have now; 0: it must not exist. */
  readonly expect?: number;
}

export interface RegisterFilter {
  readonly prefix?: string;
  /** Goes on behind this key. */
  readonly after?: string;
  readonly limit?: number;
  /** By the time of the last change, newest first, instead of by key. */
  readonly newestFirst?: boolean;
}

/** One event of a stream. */
export interface StreamEvent {
  readonly seq: number;
  readonly at: EpochMs;
  readonly event: unknown;
}

export interface SignalRow {
  readonly seq: number;
  readonly name: string;
  readonly payload: unknown;
  readonly by: string;
  readonly at: EpochMs;
  /** The key of the wait that took it; `undefined` while nobody has. */
  readonly takenBy: string | undefined;
}

export interface JournalHealth {
  readonly schema: number;
  readonly facts: number;
  /** How many runs are in each state. */
  readonly runs: Readonly<Record<RunState, number>>;
}

export interface EngineHealth extends JournalHealth {
  readonly epoch: number;
  /** Runs this process executes now. */
  readonly executing: number;
  /** Why the engine takes no more writes; `undefined` while it does. */
  readonly stopped: Fault | undefined;
}

export interface Capabilities {
  readonly distributed: false;
  readonly liveProcessAdoption: true;
  /** Bytes of one payload in the journal; larger ones become blobs. */
  readonly maxPayload: number;
  /** Most time until a cancel written by another process is seen. */
  readonly cancelLatencyMs: number;
  readonly cron: false;
}

/** Every condition that is given holds. */
export interface RunFilter {
  readonly states?: readonly RunState[];
  readonly dedupeKey?: string;
  /** Name of the handler. */
  readonly loop?: string;
  /** Ended at or after this instant; then ordered by the end instead of the start. */
  readonly endedSince?: EpochMs;
  readonly limit?: number;
  readonly newestFirst?: boolean;
}

/** Reading needs no ownership and works beside a running engine. */
export interface JournalReader extends Disposable {
  runs(filter?: RunFilter): readonly RunRow[];
  /** How many runs `runs` would give. */
  count(filter?: RunFilter): number;
  run(id: string): RunRow | undefined;
  facts(filter?: { readonly run?: string; readonly afterSeq?: number; readonly limit?: number }): readonly Fact[];
  /** Who owns the state home, and whether that process lives. */
  owner(): { readonly identity: ProcessIdentity; readonly epoch: number; readonly alive: boolean } | undefined;
  /** Walks the whole hash chain. */
  verify(): { readonly ok: true; readonly facts: number } | { readonly ok: false; readonly seq: number; readonly why: string };
  /** JSON Lines, one fact a line, in order. */
  exportLines(): Iterable<string>;
  registerEntry(register: string, key: string): RegisterEntry | undefined;
  register(register: string, filter?: RegisterFilter): readonly RegisterEntry[];
  /** Events behind `afterSeq`, in order. */
  stream(run: string, stream: string, afterSeq?: number): readonly StreamEvent[];
  /** Signals of a run, oldest first; of the engine itself for the run ''. */
  signals(run: string): readonly SignalRow[];
  health(): JournalHealth;
}
