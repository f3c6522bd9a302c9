// What the model of the journal remembers: plain maps and lists, replaced row by row, never shared with a handler. All of it outlives
// an engine; nothing of an execution is in here.
import type { EpochMs } from '../../core/ids.ts';
import type { ChainLink } from '../chain.ts';
import type { ErrorRecord } from '../error-record.ts';
import type { Amounts, RegisterEntry, RunRow, StreamEvent, WaitRow } from '../port.ts';

export type MemoryStepKind =
  | 'step'
  | 'spawn'
  | 'sleep'
  | 'value'
  | 'fact'
  | 'cleanup'
  | 'wait'
  | 'child'
  | 'map'
  | 'race'
  | 'charge'
  | 'reserve'
  | 'version';

/** What is known of one key of one run. */
export interface MemoryStep {
  readonly key: string;
  readonly kind: MemoryStepKind;
  readonly state: 'intended' | 'done' | 'failed';
  /** The generation that wrote this state. */
  readonly generation: number;
  /** How often its intent was written. */
  readonly performed: number;
  /** Attempts used up of the retry policy. */
  readonly attempts: number;
  /** Order of the first intent within the run. */
  readonly ord: number;
  readonly plan: {
    readonly until?: number;
    readonly jobDir?: string;
    /** Set while it waits for its next try: its outcome is known, so that no crash makes it doubtful. */
    readonly nextTryAt?: number;
    /** A person said that it is to be performed although its outcome is unknown. */
    readonly again?: true;
  };
  /** JSON text. */
  readonly outcome: string | undefined;
  readonly error: ErrorRecord | undefined;
  /** JSON text of the last heartbeat. */
  readonly details: string | undefined;
}

export interface StoredSignal {
  readonly seq: number;
  /** Empty for the engine itself. */
  readonly run: string;
  readonly name: string;
  readonly payload: string | undefined;
  readonly dedupeKey: string | undefined;
  readonly by: string;
  readonly at: EpochMs;
  /** The key of the wait that took it. */
  readonly takenBy: string | undefined;
}

export interface StoredEvent extends StreamEvent {
  readonly run: string;
  readonly stream: string;
}

/** A run as stored: what the port shows, and what only the engine needs. */
export interface MemoryRun {
  readonly row: Omit<RunRow, 'waits'>;
  readonly cancel: { readonly reason: string; readonly noted: boolean; readonly children: 'cancel' | 'leave' | undefined } | undefined;
  /** What happens to it when its parent is cancelled or ends. */
  readonly onParentCancel: 'cancel' | 'leave';
  readonly detached: boolean;
  /** Whether an execution of it ever began. */
  readonly begun: boolean;
  readonly onLimit: 'park' | 'fail';
  /** Held of the budget and not charged yet. */
  readonly reserved: Amounts;
}

export interface MemoryState {
  readonly facts: (ChainLink & { readonly hash: string })[];
  readonly runs: Map<string, MemoryRun>;
  readonly steps: Map<string, Map<string, MemoryStep>>;
  readonly waits: Map<string, Map<string, WaitRow>>;
  readonly signals: StoredSignal[];
  readonly streams: StoredEvent[];
  readonly registers: Map<string, Map<string, RegisterEntry>>;
  owner: { readonly epoch: number; readonly held: boolean };
  /** Called after every change, whoever made it. */
  readonly changed: Set<() => void>;
}

export const emptyState = (): MemoryState => ({
  facts: [],
  runs: new Map(),
  steps: new Map(),
  waits: new Map(),
  signals: [],
  streams: [],
  registers: new Map(),
  owner: { epoch: 0, held: false },
  changed: new Set(),
});
