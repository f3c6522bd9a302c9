// The owner of a state home.
import type { Fault } from '../../core/fault.ts';
import type { EpochMs, RunId } from '../../core/ids.ts';
import type { ProcessHost } from '../../process/index.ts';
import type { Amounts, RunState } from './rows.ts';
import type { LoopHandler, RunHandle, StartOptions } from './handler.ts';
import type { Capabilities, EngineHealth, JournalReader, RegisterChange } from './reader.ts';
import type { SignalReceipt } from './requests.ts';

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
  /** Cancels every run that is at work in this process and waits for them; one that is paused or needs attention stays so. */
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
