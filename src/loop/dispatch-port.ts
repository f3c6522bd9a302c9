import type { QueuedItem, StartLimits } from '../dispatch/index.ts';
import type { CommitSha, RunId } from '../core/ids.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import type { Task } from '../core/task.ts';
import type { LoopHandler, RunHandle, RunRow } from '../journal/index.ts';
import type { processesOf } from './attempt.ts';
import type { Breakers } from './breakers.ts';
import type { Admission, EndedRun, TickEvent } from './port.ts';
import type { TaskClaims } from './task-claims.ts';

/** What a tick wants done with one task. */
export type Plan = Exclude<Admission, { admit: 'skip' }>;

export interface TickWork {
  readonly tick: RunId;
  readonly loop: LoopDefinition;
  readonly prefix: string;
  /** The commit the tasks were found on. */
  readonly base: CommitSha;
  readonly plans: readonly Plan[];
  /** Decides about a task again, as things are when its turn has come. */
  readonly readmit: (task: Task) => Promise<Admission>;
  /** Aborts when the tick is cancelled or the engine stops. */
  readonly signal: AbortSignal;
  /** For a look at the world before a start. */
  readonly processes: ReturnType<typeof processesOf>;
  readonly report: (event: TickEvent) => void;
}

export interface Performed {
  readonly runs: readonly EndedRun[];
  readonly halted: string | undefined;
}

export interface Dispatcher {
  /** Resolves when every task of the tick has ended or was left for a later tick. @throws the signal's reason when it aborts */
  perform(work: TickWork): Promise<Performed>;
  /** Counts a run that goes on from before the engine's start, or that a person opened again. */
  take(handle: RunHandle): void;
  /** Starts nothing more; what waits is left for a later tick, what runs goes on. */
  close(why: string): void;
}

export interface DispatcherOptions {
  /** Of task runs. */
  readonly handler: LoopHandler;
  readonly limits: StartLimits;
  /** Share of each loop; 1 where missing. */
  readonly weights: Readonly<Record<string, number>>;
  readonly breakers: Breakers;
  readonly claims: TaskClaims;
  readonly machine: () => { readonly loadPerCpu: number; readonly freeMemoryBytes: number };
  readonly after: (ms: number, look: () => void) => { cancel(): void };
}

/** A task of a tick in the queue. */
export interface Item extends QueuedItem {
  readonly work: TickWork;
  readonly plan: Plan;
  /** The run this tick opened for it in an earlier life. */
  readonly before: RunRow | undefined;
  /** `undefined`: left for a later tick. */
  readonly settle: (ended: EndedRun | undefined) => void;
  readonly fail: (error: unknown) => void;
}
