// What is waiting, what is running, and what the answer looks like. Everything here is plain JSON but the sets and maps of facts.
import type { EpochMs } from '../core/ids.ts';
import type { Breaker } from './breaker.ts';
import type { Wake, WakeFacts } from './wake.ts';

/** A task in the queue of a loop. `enqueuedAt` and `place` stay as they are while it is parked or retried: that is what keeps its place. */
export interface QueuedItem {
  /** Unique in the queue, e.g. `<loop>/<task key>`. */
  readonly id: string;
  readonly loop: string;
  readonly agent: string;
  readonly provider: string;
  /** Key of the task, by which others need it. */
  readonly task: string;
  /** What no two runs may work on at once, whatever loop they belong to (see `ownershipKeyOf`). */
  readonly ownership: string;
  /** Higher is sooner, among the items of its loop. Counted within -100 and 100. */
  readonly priority: number;
  readonly enqueuedAt: EpochMs;
  /** Number of arrival, unique; breaks ties. */
  readonly place: number;
  /** Keys of tasks that must have landed before. */
  readonly needs: readonly string[];
  /** Set while it is parked. */
  readonly wake: Wake | undefined;
}

/** A run that is open and not parked: it takes a slot. */
export interface RunningItem {
  readonly run: string;
  readonly loop: string;
  readonly agent: string;
  readonly provider: string;
  readonly ownership: string;
}

/** What is known of a task that another one needs. A key that is in no such list is not known at all. */
export type NeedState = 'open' | 'delivered' | 'landed' | 'failed';

/** Most runs at once; a name that is missing is not limited. */
export interface StartLimits {
  readonly machine: number;
  readonly perLoop: Readonly<Record<string, number>>;
  readonly perAgent: Readonly<Record<string, number>>;
  readonly perProvider: Readonly<Record<string, number>>;
  /** Least time between two starts: starting is when an agent takes most of a processor. 0 means none. */
  readonly gapMs: number;
  /** Most starts within any minute; `undefined` means no such limit. */
  readonly startsPerMinute: number | undefined;
  /** Nothing is started above this load (one-minute average, a processor); one run is let through where none is open. */
  readonly loadPerCpuMax: number | undefined;
  /** Nothing at all is started below this. */
  readonly freeMemoryBytesMin: number | undefined;
}

export interface MachineReading {
  readonly loadPerCpu: number;
  readonly freeMemoryBytes: number;
}

export interface StartView {
  readonly queue: readonly QueuedItem[];
  readonly running: readonly RunningItem[];
  readonly limits: StartLimits;
  /** Share of each loop; 1 where missing. */
  readonly weights: Readonly<Record<string, number>>;
  /** Starts of the last hour, in any order (see `recentStartsMs`). */
  readonly recentStarts: readonly { readonly at: EpochMs; readonly loop: string }[];
  readonly breakers: Readonly<Record<string, Breaker>>;
  /** Until when a provider has refused to serve. */
  readonly quotas: Readonly<Record<string, EpochMs>>;
  readonly needs: ReadonlyMap<string, NeedState>;
  readonly facts: WakeFacts;
  /** Ids of items that a person said to go on with now, whatever they wait for. */
  readonly resumed: ReadonlySet<string>;
  /** `undefined` where it was not measured. */
  readonly machine: MachineReading | undefined;
}

/** Why an item is not started now. */
export type WaitReason =
  | { readonly why: 'parked'; readonly wake: Wake }
  /** Tasks it needs that have not landed. */
  | { readonly why: 'needs'; readonly tasks: readonly string[] }
  /** A task it needs has failed: a person must look at that one. */
  | { readonly why: 'blocked'; readonly by: string }
  /** It needs a task that no source has named. */
  | { readonly why: 'needs-unknown'; readonly task: string }
  | { readonly why: 'needs-circle'; readonly tasks: readonly string[] }
  | { readonly why: 'owned'; readonly loop: string; readonly run: string | undefined }
  | { readonly why: 'breaker'; readonly until: EpochMs | undefined; readonly message: string }
  /** Its loop has just failed, or tries whether it works again: one run at a time until one gets through. */
  | { readonly why: 'one-at-a-time'; readonly loop: string; readonly message: string }
  | { readonly why: 'quota'; readonly provider: string; readonly until: EpochMs }
  | { readonly why: 'full'; readonly of: 'machine' | 'loop' | 'agent' | 'provider'; readonly name: string; readonly limit: number }
  | { readonly why: 'pace'; readonly until: EpochMs }
  | { readonly why: 'load'; readonly loadPerCpu: number; readonly limit: number }
  | { readonly why: 'memory'; readonly freeBytes: number; readonly limit: number };

export interface StartDecision {
  /** To be started now, in this order. `isProbe`: the one run that a breaker lets through to see whether the trouble is over. */
  readonly starts: readonly { readonly item: QueuedItem; readonly isProbe: boolean }[];
  /** Every other item of the queue, in the order of the queue. */
  readonly waits: readonly { readonly item: QueuedItem; readonly reason: WaitReason }[];
  /** When time alone may change the answer; `undefined` when only an event can. Never more than `lookAgainMs` away. */
  readonly nextLookAt: EpochMs | undefined;
}
