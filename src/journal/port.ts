// The durable door (ENGINE.md, section 6): as much of it as the spine needs. The next stages add waits, children, map, race, schedules
// and slots to these interfaces; nothing here is replaced.
//
//  1. A step is identified by (run, key). Keys are explicit and unique in a run; the same key twice in one execution is a defect.
//  2. A recorded outcome is returned for ever and the function not called again. The intent is on disk before the function is called.
//  3. In flight at a crash: `rerun`, `adopt` (processes), or `reconcile` (ask the world first).
//  4. One owning process per state home, known by pid, start time and boot id; taken over only when that process is gone; every write
//     carries the epoch and a stale epoch is refused.
//  7. A storage failure is never a step failure.
//  8. Cancel is a durable request that any process may write; it reaches the running step through its AbortSignal.
import type { Fault } from '../core/fault.ts';
import type { EpochMs, RunId } from '../core/ids.ts';
import type { ManagedProcess, ProcessHost, ProcessIdentity, ProcessResult, ProcessSpec } from '../process/index.ts';

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

export type RunState = 'pending' | 'running' | 'done' | 'failed' | 'cancelled';

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
  readonly error: { readonly code: string; readonly message: string } | undefined;
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs | undefined;
}

export interface StepOptions<T> {
  /** What to do with a step whose intent is recorded and whose outcome is not. Default `rerun`. `reconcile` returns the outcome when the
   * world already shows it, `undefined` when the effect has to be performed. */
  readonly onCrash?: 'rerun' | { readonly reconcile: () => Promise<T | undefined> };
}

export interface StepContext {
  readonly signal: AbortSignal;
  /** How often this effect was begun, this time included: 1, and more after a crash in its middle. */
  readonly performance: number;
  /** Stable over re-executions: `<run>/<key>`. */
  readonly idempotencyKey: string;
}

export interface SpawnOptions {
  /** Called with the live process, also when adopted or read back after a restart (then output comes from its first byte). */
  readonly watch?: (process: ManagedProcess) => void;
}

export type SpawnResult = ProcessResult & { readonly wasAdopted: boolean };

/** What a handler may do. Everything with a key is recorded under it. Values are plain JSON: what goes in comes back as `JSON.parse` gives it. */
export interface RunContext {
  readonly run: { readonly id: RunId; readonly generation: number; readonly startedAt: EpochMs };
  readonly signal: AbortSignal;
  step<T>(key: string, options: StepOptions<T>, effect: (context: StepContext) => Promise<T>): Promise<T>;
  /** Runs a process under the detached shim; a restart adopts it or reads its result, and never starts a second. */
  spawn(key: string, spec: ProcessSpec, options?: SpawnOptions): Promise<SpawnResult>;
  sleep(key: string, ms: number): Promise<void>;
  /** Recorded clock and chance, so that a replay sees the same values. */
  now(key: string): Promise<EpochMs>;
  random(key: string): Promise<number>;
  /** Appends a domain fact exactly once. */
  record(key: string, kind: string, data: unknown): Promise<void>;
  /** Visible state for lists; the last value wins; not part of the history. */
  set(name: string, value: unknown): void;
  /** Runs when the handler has ended, however it ended, last in first out; once recorded as done it is not repeated. */
  cleanup(key: string, effect: () => Promise<void>): void;
}

export interface LoopHandler {
  readonly name: string;
  readonly version: number;
  /** @throws whatever it likes: a `CancelledError` ends the run `cancelled`, anything else `failed` with the error kept. */
  readonly handle: (context: RunContext, input: unknown) => Promise<unknown>;
}

export interface RunHandle {
  readonly id: RunId;
  /** Settles when the run has ended in any state. */
  readonly ended: Promise<RunRow>;
}

export interface StartOptions {
  readonly id: RunId;
  readonly dedupeKey: string;
}

/** Reading needs no ownership and works beside a running engine. */
export interface JournalReader extends Disposable {
  runs(filter?: { readonly states?: readonly RunState[]; readonly dedupeKey?: string }): readonly RunRow[];
  run(id: string): RunRow | undefined;
  facts(filter?: { readonly run?: string; readonly afterSeq?: number; readonly limit?: number }): readonly Fact[];
  /** Who owns the state home, and whether that process lives. */
  owner(): { readonly identity: ProcessIdentity; readonly epoch: number; readonly alive: boolean } | undefined;
  /** Walks the whole hash chain. */
  verify(): { readonly ok: true; readonly facts: number } | { readonly ok: false; readonly seq: number; readonly why: string };
  /** JSON Lines, one fact a line, in order. */
  exportLines(): Iterable<string>;
}

export interface Engine extends AsyncDisposable {
  readonly reader: JournalReader;
  /** The same id, or the dedupe key of an open run, returns the existing run and starts nothing. */
  start(handler: LoopHandler, input: unknown, options: StartOptions): Promise<RunHandle>;
  /** Resumes every run that a dead engine left open, with the handler its loop names. Unknown handlers leave the run as it is. */
  recover(handlers: readonly LoopHandler[]): Promise<readonly RunHandle[]>;
  /** Opens an ended run again as its next generation: recorded steps keep their outcomes, the handler gets the new input. */
  reopen(handler: LoopHandler, id: RunId, input: unknown): Promise<RunHandle>;
  /** Appends a fact of no run. */
  record(kind: string, data: unknown): Promise<void>;
  /** Cancels every open run of this process and waits for them. */
  cancelAll(reason: string): Promise<void>;
}

/** Written by any process; a no-op for an ended or unknown run. Returns whether an open run was asked. */
export type RequestCancel = (stateHome: string, run: RunId, reason: string) => boolean;

export interface EngineOptions {
  /** Folder that holds `journal.sqlite`, `jobs/` and the lock. Made if missing. */
  readonly stateHome: string;
  readonly processes: ProcessHost;
  readonly clock: () => EpochMs;
  /** In [0, 1). */
  readonly chance: () => number;
  /** How long a write is tried again while another program holds the journal locked; then the engine stops. Default 120,000. */
  readonly lockPatienceMs?: number;
  /** The same while the disk is full or refuses. Default 10,000. */
  readonly diskPatienceMs?: number;
  /** Told once an outage that writes are waiting; they are not lost, and no step fails for it. */
  readonly onTrouble?: (trouble: Fault) => void;
}
