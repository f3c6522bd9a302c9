// What a loop handler is given: steps, processes, waits, children, and the run around them.
import type { Fault } from '../../core/fault.ts';
import type { EpochMs, RunId } from '../../core/ids.ts';
import type { ManagedProcess, ProcessResult, ProcessSpec } from '../../process/index.ts';
import type { Amounts, RunRow } from './rows.ts';

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
