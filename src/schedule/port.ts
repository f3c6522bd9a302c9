// Windows and ticks (L11). The rules this folder keeps, cited by its tests:
//
//  W1. A window has an id that does not depend on when it was noticed: `<loop>/<trigger>/<part>`, where part is the ISO instant (time),
//      `<ref>@<sha>` (git), the delivery id (webhook), a fingerprint of the files (watch) or the other tick's id (after). Where an event
//      gives the same part again, `#2`, `#3` ... follows it; a delivery id never comes twice.
//  W2. A window's tick is started under the window's id, and starting is idempotent: at most one tick a window, whatever crashes.
//  W3. The order is: intent (`starting`) in the register, tick, end in the register. After a crash the world is asked whether the tick
//      exists before anything else is done.
//  W4. Every window up to `accountedUntil` has exactly one end: fired, skipped, missed or superseded, with its reason. A long stretch with
//      one end is one record.
//  W5. A window that has fired never fires again, whatever the clock does. One that was accounted as missed while the clock stood
//      ahead is due again when its time comes, and a fact says so.
import type { EpochMs } from '../core/ids.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import type { TriggerDefinition, TriggerId } from '../core/trigger.ts';

/** What the scheduler needs of a loop. */
export type ScheduledLoop = Pick<LoopDefinition, 'name' | 'file' | 'triggers'>;

export interface Window {
  /** `<loop>/<trigger>/<part>`, W1. At most 400 letters. Also the id under which its tick starts. */
  readonly id: string;
  readonly loop: string;
  readonly trigger: TriggerId;
  readonly on: TriggerDefinition['on'];
  /** Its instant (time), or when the event was noticed. */
  readonly at: EpochMs;
  /** Plain facts of the event: ref, from and to; event, action and delivery; the other tick and its exit. Untrusted text (L12). */
  readonly cause: Readonly<Record<string, string>>;
}

export type WindowEnd = 'fired' | 'skipped' | 'missed' | 'superseded';

/** One end, of one window or of a stretch of `count` windows from `from` to `to` of the same trigger. Value of register `windows`, key: id of the first. */
export interface WindowRecord {
  readonly loop: string;
  readonly trigger: TriggerId;
  readonly end: WindowEnd;
  /** One sentence. */
  readonly reason: string;
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly count: number;
  /** When the end was decided. */
  readonly at: EpochMs;
}

/** Value of register `triggers`, key `<loop>/<trigger>`. */
export interface TriggerState {
  /** When this trigger was first seen: windows before are not its windows. */
  readonly since: EpochMs;
  /** Time triggers: W4. Event triggers: when the source was last looked at. */
  readonly accountedUntil: EpochMs;
  /** Windows that wait for a running tick, oldest first. */
  readonly pending: readonly PendingWindow[];
  /** The window whose tick is being started: W3. */
  readonly starting: Window | undefined;
  /** Windows in a row that ended without a tick. */
  readonly unfired: number;
  /** What an event source saw last: refs and their commits, a fingerprint, the last tick. */
  readonly seen: Readonly<Record<string, string>>;
}

export interface PendingWindow {
  readonly window: Window;
  /** `overlap`: at most one waits, a newer one supersedes it. `catch-up`: each runs, one after another. */
  readonly why: 'overlap' | 'catch-up';
}

/** Value of register `notices`, key `silent/<loop>/<trigger>`; removed when a window fires. */
export interface SilentNotice {
  readonly kind: 'loop-silent';
  readonly loop: string;
  readonly trigger: TriggerId;
  readonly windows: number;
  readonly sentence: string;
  readonly at: EpochMs;
}

/** The registers of the journal (`engine.put`, `reader.registerEntry`, `reader.register`), or a fake. */
export interface Registers {
  get(register: string, key: string): { readonly value: unknown; readonly revision: number } | undefined;
  /** Ordered by key; `after` excludes that key. `newestFirst`: by last change, newest first. */
  list(
    register: string,
    filter: { readonly prefix?: string; readonly after?: string; readonly limit?: number; readonly newestFirst?: boolean },
  ): readonly { readonly key: string; readonly value: unknown; readonly revision: number }[];
  /** All or nothing in one transaction; a value of `undefined` removes; `false` when an `expect` did not hold. */
  put(
    entries: readonly { readonly register: string; readonly key: string; readonly value: unknown; readonly expect?: number }[],
  ): Promise<boolean>;
}

export interface EndedTick {
  readonly id: string;
  /** `goal-met`, `nothing-to-do`, `parked`, `stopped` or `fault`. */
  readonly exit: string;
  readonly endedAt: EpochMs;
}

/** Ticks as the engine runs them. */
export interface Ticks {
  /** Begins the tick of a window under `window.id`. Idempotent: the same id again starts nothing. Resolves once the tick is on disk. */
  start(window: Window): Promise<void>;
  /** Whether a tick of that id was ever started, also when it has ended or was purged. */
  exists(id: string): boolean;
  /** Ticks of a loop that have not ended, whatever started them. */
  running(loop: string): readonly { readonly id: string }[];
  /** Asks a tick to end. Its end is told by `scheduler.tickEnded`. */
  cancel(id: string, reason: string): Promise<void>;
  /** Ended ticks of a loop with `endedAt` at or after an instant, oldest first, at most 1000. */
  ended(loop: string, since: EpochMs): readonly EndedTick[];
}

/** Set once, fires once. Bounded by what Node can wait: `ms` is at most `timerSliceMs`. */
export interface Timers {
  after(ms: number, act: () => void): { cancel(): void };
}

/** What a person or a log is told. */
export type ScheduleReport =
  | { readonly kind: 'window-ended'; readonly window: string; readonly record: WindowRecord }
  | {
      readonly kind: 'clock-set-back';
      readonly loop: string;
      readonly trigger: TriggerId;
      readonly from: EpochMs;
      readonly to: EpochMs;
      readonly reopened: number;
    }
  | { readonly kind: 'loop-silent'; readonly notice: SilentNotice }
  /** A source could not be looked at, or a tick not be started; it is tried again. */
  | { readonly kind: 'trouble'; readonly loop: string; readonly trigger: TriggerId; readonly sentence: string };

export interface SchedulerOptions {
  readonly loops: readonly ScheduledLoop[];
  readonly registers: Registers;
  readonly ticks: Ticks;
  readonly clock: () => EpochMs;
  readonly timers: Timers;
  /** Folder the globs of `watch` and the git commands are relative to; `undefined`: loops with such triggers are refused. */
  readonly repository: string | undefined;
  /** Secrets of webhooks, by the names the loop files give. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where webhooks are listened for; the port is opened only when a loop has a webhook. 0: any free port. */
  readonly server: { readonly host: string; readonly port: number };
  readonly report: (report: ScheduleReport) => void;
}

export interface Scheduler {
  /**
   * Settles what a crash left, then looks at every trigger and goes on by itself.
   * @throws Rejection with every issue of every loop (unknown loop, missing secret, a circle of `after`)
   * @throws Fault PORT_TAKEN
   */
  start(): Promise<void>;
  /** Closes timers, watchers and the port. Ticks go on; nothing is lost: what is due meanwhile is seen at the next start. */
  stop(): Promise<void>;
  /** Other loops from now on. @throws Rejection and changes nothing when they cannot be used */
  reload(loops: readonly ScheduledLoop[]): Promise<void>;
  /** To be called when a tick of any loop has ended: waiting windows and `after` triggers are looked at at once (else within seconds). */
  tickEnded(): void;
  /** Looks at everything now, e.g. after the machine woke up; resolves when it is done. */
  look(): Promise<void>;
  /** Next instant at which a time trigger is due, `undefined` without one. */
  next(): EpochMs | undefined;
  /** Where webhooks are received now. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
}
