// The durable door (ENGINE.md, section 6).
//
//  1. A step is identified by (run, key). Keys are explicit and unique in a run; the same key twice in one execution is a defect.
//  2. A recorded outcome is returned for ever and the function not called again. The intent is on disk before the function is called.
//  3. In flight at a crash: `rerun`, `adopt` (processes), `reconcile` (ask the world first), or `ask` (park the run for a person).
//  4. One owning process per state home, known by pid, start time and boot id; taken over only when that process is gone; every write
//     carries the epoch and a stale epoch is refused.
//  5. Signals are stored, first in first out per run and name, whether or not anyone waits; each is taken once, under the wait's key.
//  6. A payload over 256 KiB goes to a blob and the journal holds its hash. A run has at most 10,000 keys: `continueAs` starts afresh.
//  7. A storage failure is never a step failure.
//  8. Cancel is a durable request that any process may write; it reaches the running step through its AbortSignal. The run ends
//     `cancelled`, and its cleanups run.
//  9. Slots are held by steps that perform, and released while a step waits for its retry; a waiting run costs a row, not a worker.
// 10. A run records name and version of its loop: a version that nobody here knows is parked, never run by another one.
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

/**
 * How a failed step is tried again. The n-th retry waits `baseMs * factor^(n-1)`, at most `capMs`, and up to a quarter of that longer by
 * `EngineOptions.chance`, so that many that failed together do not come back together.
 */
export interface RetryPolicy {
  /** Most retries after the first try: 2 means at most three tries. */
  readonly max: number;
  readonly baseMs: number;
  /** Default 2. */
  readonly factor?: number;
  /** Default 3,600,000. */
  readonly capMs?: number;
  /** Default: every failure but a broken assertion. */
  readonly isRetryable?: (error: Fault) => boolean;
}

/** What checks a value and gives it back as its type. @throws when it does not fit */
export interface Schema<T> {
  parse(value: unknown): T;
}

export interface StepOptions<T> {
  /** What to do with a step whose intent is recorded and whose outcome is not. Default `rerun`. `ask` parks the run until a person
   * decides. `reconcile` returns the outcome when the world already shows it, `undefined` when the effect has to be performed. */
  readonly onCrash?: 'rerun' | 'ask' | { readonly reconcile: () => Promise<T | undefined> };
  /** The one layer of retries; a failure between two tries is kept as the fact `step.retried` and not thrown. */
  readonly retry?: RetryPolicy;
  /** From start to end of one performance: then `StepContext.signal` aborts and the performance fails with STEP_TIMED_OUT. */
  readonly timeoutMs?: number;
  /** Held from the intent to the outcome, released while waiting for a retry. */
  readonly slots?: Readonly<Record<string, number>>;
  /** Checks the outcome before it is recorded, and a recorded one before it is given back (SCHEMA_MISMATCH). */
  readonly schema?: Schema<T>;
}

export interface StepContext {
  readonly signal: AbortSignal;
  /** How often this effect was begun, this time included: 1, and more after a crash in its middle. */
  readonly performance: number;
  /** Stable over re-executions: `<run>/<key>`. */
  readonly idempotencyKey: string;
  /** Counts from 1 within the retry policy; a crash in the middle does not count. */
  readonly attempt: number;
  /** Of the engine that performs it. A later engine has a higher one. */
  readonly epoch: number;
  /** Keeps details for the next performance of this step; written at most once a second, the last one wins. */
  readonly heartbeat: (details: unknown) => void;
  /** The last details an earlier performance kept; `undefined` when there are none. */
  readonly lastDetails: unknown;
  /** Adds to what the run spent, in the transaction of this performance's outcome or failure. */
  readonly charge: (amounts: Amounts) => void;
}

export interface SpawnOptions {
  /** Called with the live process, also when adopted or read back after a restart (then output comes from its first byte). */
  readonly watch?: (process: ManagedProcess) => void;
  /** Held from the intent to the outcome. */
  readonly slots?: Readonly<Record<string, number>>;
  /** Default `adopt`. `rerun` ends a process that is still there and starts a new one. `ask` adopts what can be adopted, and parks the
   * run when nobody knows how the process ended. */
  readonly onCrash?: 'adopt' | 'rerun' | 'ask';
}

export type SpawnResult = ProcessResult & { readonly wasAdopted: boolean };

export interface WaitOptions<T> {
  readonly signal: string;
  /** A payload that does not fit is refused with the fact `signal.refused`, and the wait goes on. */
  readonly schema?: Schema<T>;
  /** Counted from the first execution. */
  readonly timeoutMs?: number;
  /** What a person who can give the signal is shown. */
  readonly describe?: string;
}

export type WaitResult<T> =
  | { readonly kind: 'signal'; readonly value: T; readonly by: string; readonly at: EpochMs }
  | { readonly kind: 'timeout' };

export interface ChildOptions {
  /** Nobody waits for it: it goes on when its parent ends or is cancelled. */
  readonly detached?: boolean;
  /** Default `cancel`: it is cancelled with its parent, and when its parent ends without having waited for it. */
  readonly onParentCancel?: 'cancel' | 'leave';
  /** Its own limits; what it spends counts against its parents' limits as well. */
  readonly budget?: Amounts;
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: that of its parent. */
  readonly priority?: number;
}

export interface ChildHandle<O> {
  /** `<run>/<key>` */
  readonly id: RunId;
  /** Waits for its end and records it. @throws Fault CHILD_FAILED, CancelledError when it was cancelled */
  result(): Promise<O>;
  cancel(reason: string): Promise<void>;
}

/** How one item ended; `key` is its `itemKey`. */
export type MapResult<O> =
  | { readonly key: string; readonly ok: true; readonly value: O }
  | { readonly key: string; readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

export interface MapOptions<I> {
  readonly concurrency: number;
  /** `stop`: the first failure aborts the other items and is thrown. `collect`: every item comes to its end. */
  readonly onError: 'stop' | 'collect';
  /** Unique among the items. */
  readonly itemKey: (item: I) => string;
}

/** The amounts of a run and of all its parents; a unit without a limit is not named. */
export interface RunBudget {
  /** Limit less spent less reserved: the smallest along the line of parents. */
  remaining(): Amounts;
  /** Holds amounts until they are charged or the run ends. Recorded. @returns false, and holds nothing, when they are not there */
  reserve(key: string, amounts: Amounts): Promise<boolean>;
  /** Adds to what was spent; uses up what the run reserved first. Recorded. Below zero the run is parked or fails (`StartOptions`). */
  charge(key: string, amounts: Amounts): Promise<void>;
}

/** What a handler may do. Everything with a key is recorded under it. Values are plain JSON: what goes in comes back as `JSON.parse` gives it. */
export interface RunContext {
  readonly run: {
    readonly id: RunId;
    readonly generation: number;
    readonly startedAt: EpochMs;
    readonly parent: RunRow['parent'];
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly signal: AbortSignal;
  step<T>(key: string, options: StepOptions<T>, effect: (context: StepContext) => Promise<T>): Promise<T>;
  /** Runs a process under the detached shim; a restart adopts it or reads its result, and never starts a second. */
  spawn(key: string, spec: ProcessSpec, options?: SpawnOptions): Promise<SpawnResult>;
  sleep(key: string, ms: number): Promise<void>;
  sleepUntil(key: string, at: EpochMs): Promise<void>;
  /** Recorded clock and chance, so that a replay sees the same values. */
  now(key: string): Promise<EpochMs>;
  random(key: string): Promise<number>;
  /** A version 4 UUID. */
  uuid(key: string): Promise<string>;
  /** Waits for the oldest signal of that name which no wait of this run has taken. */
  waitFor<T>(key: string, options: WaitOptions<T>): Promise<WaitResult<T>>;
  /** Starts a run of its own under the id `<run>/<key>`, once; a replay gives the handle of the same run. */
  child<O>(key: string, handler: LoopHandler, input: unknown, options?: ChildOptions): Promise<ChildHandle<O>>;
  /** Runs `fn` for each item; its keys are prefixed `<key>/<itemKey>/`. Results in the order of the items, recorded when all are well. */
  map<I, O>(
    key: string,
    items: readonly I[],
    options: MapOptions<I>,
    fn: (scoped: RunContext, item: I) => Promise<O>,
  ): Promise<readonly MapResult<O>[]>;
  /** The first branch to end, well or not, is recorded; the signals of the others abort. Keys inside are prefixed `<key>/<branch>/`. */
  race<T>(
    key: string,
    branches: Readonly<Record<string, (scoped: RunContext) => Promise<T>>>,
  ): Promise<{ readonly winner: string; readonly value: T }>;
  readonly budget: RunBudget;
  /** Appends to a stream of the run: at least once, in order, outside the chain. */
  emit(stream: string, event: unknown): void;
  /** The version of a change in the handler's code: `max` the first time, then what was recorded. One outside [min, max] parks the run. */
  version(changeId: string, min: number, max: number): Promise<number>;
  /** Ends this generation's history and opens the next one of the same run, with this input and no recorded keys. */
  continueAs(input: unknown): Promise<never>;
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
  /** Default 0. */
  readonly priority?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly deadlineAt?: EpochMs;
  readonly budget?: Amounts;
  /** What happens when the budget is overdrawn or the history is full. Default `park` (needs-attention); `fail` ends the run. */
  readonly onLimit?: 'park' | 'fail';
}

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
  /**
   * Launches every open run whose handler is given, and from then on every pending one, also those asked for by other processes.
   * A run whose loop is known and whose version is not is parked with the reason; a run of an unknown loop is left as it is.
   * @returns the runs found open
   */
  serve(handlers: readonly LoopHandler[]): Promise<readonly RunHandle[]>;
  /** Stores a signal, first in first out per run and name. The run '' is the engine itself. See `SignalRequest`. */
  signal(
    run: string,
    name: string,
    payload: unknown,
    options?: { readonly dedupeKey?: string; readonly by?: string },
  ): Promise<SignalReceipt>;
  /** Takes the signals of the engine itself, each exactly once, oldest first. */
  takeSignals(name: string): Promise<readonly { readonly payload: unknown; readonly by: string; readonly at: EpochMs }[]>;
  /** Asks a run to end, and (default) those of its children that end with their parent. A no-op for an ended or unknown run. */
  cancel(run: string, options: { readonly reason: string; readonly children?: 'cancel' | 'leave' }): Promise<void>;
  /** A no-op for a run that is not open, or waits for a person already. */
  pause(run: string, reason: string): Promise<void>;
  /** Goes on with a paused run, or with one that needs attention; `budget` sets new limits. @throws Fault RUN_UNKNOWN, RUN_ENDED */
  resume(run: string, options?: { readonly budget?: Amounts }): Promise<void>;
  /** Answers `onCrash: 'ask'`. @throws Fault RUN_UNKNOWN, STEP_NOT_ASKED */
  decide(run: string, step: string, decision: { readonly outcome: unknown } | 'perform-again'): Promise<void>;
  /** Opens an ended run as its next generation, without the steps whose first intent came with or after that of `stepKey`.
   * @throws Fault RUN_UNKNOWN, RUN_OPEN, RUN_DUPLICATE, STEP_UNKNOWN, HANDLER_UNKNOWN (no handler of that loop was given yet) */
  retryFrom(run: string, stepKey: string): Promise<RunHandle>;
  /** All or nothing in one transaction, each change a fact `register.changed`. @returns false when an `expect` did not hold */
  put(changes: readonly RegisterChange[]): Promise<boolean>;
  /** Begins no new run and no new effect, waits for the steps in flight, then closes as `Symbol.asyncDispose` does. */
  drain(options: { readonly graceMs: number }): Promise<void>;
  /** Removes steps, streams, signals and blobs of runs that ended before an instant; facts and run rows stay. @param options `keep`: states
   * that are left alone */
  purge(options: {
    readonly before: EpochMs;
    readonly keep?: readonly RunState[];
  }): Promise<{ readonly runs: number; readonly bytes: number }>;
  capabilities(): Capabilities;
  health(): EngineHealth;
}

/** Written by any process; a no-op for an ended or unknown run. Returns whether an open run was asked. */
export type RequestCancel = (stateHome: string, run: RunId, reason: string) => boolean;

export interface StartRequest {
  readonly handler: string;
  readonly version: number;
  readonly input: unknown;
  readonly id: RunId;
  readonly dedupeKey: string;
  readonly priority?: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Written by any process: a pending run, begun by the owner that serves its handler. The same id, or the dedupe key of an open run,
 * gives the existing run. */
export type RequestStart = (stateHome: string, request: StartRequest) => { readonly run: RunId; readonly existing: boolean };

export interface SignalRequest {
  /** '' is the engine itself: always accepted. */
  readonly run: string;
  readonly name: string;
  readonly payload: unknown;
  /** A second signal of this run and name with the same key is a duplicate and not stored. */
  readonly dedupeKey?: string;
  /** Who gives it; default ''. */
  readonly by?: string;
}

/** `accepted` is false for an ended or unknown run; a duplicate is accepted and changes nothing. */
export interface SignalReceipt {
  readonly accepted: boolean;
  readonly duplicate: boolean;
}

/** Written by any process. */
export type RequestSignal = (stateHome: string, request: SignalRequest) => SignalReceipt;

/** Written by any process. Returns whether an open run was asked. */
export type RequestState = (stateHome: string, run: string, want: 'pause' | 'resume', reason: string) => boolean;

/** What everything in the engine that waits is built on. */
export interface Timers {
  /** Calls `fn` once, after at least `ms`. */
  after(ms: number, fn: () => void): { cancel(): void };
}

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
  /** How many of each slot the steps of this engine may hold at once; a slot that is not named here has no limit. */
  readonly slots?: Readonly<Record<string, number>>;
  /** Default: the system's. */
  readonly timers?: Timers;
  /** Size of the file `reserve`, freed when the disk is full so that the last facts fit. Default 1 MiB. */
  readonly reserveBytes?: number;
}
