import { epochMs, type EpochMs } from '../../src/core/ids.ts';
import { triggerId, type CatchUp, type Overlap, type TimeTrigger } from '../../src/core/trigger.ts';
import {
  createScheduler,
  type EndedTick,
  type Registers,
  type ScheduledLoop,
  type Scheduler,
  type SchedulerOptions,
  type ScheduleReport,
  type Ticks,
  type Timers,
  type Window,
  type WindowRecord,
} from '../../src/schedule/index.ts';

export const at = (iso: string): EpochMs => epochMs(Date.parse(iso));

export interface Policy {
  readonly overlap?: Overlap;
  readonly catchUp?: CatchUp;
  readonly jitterMs?: number;
  readonly silentAfter?: number;
}

const policy = ({ overlap = 'skip', catchUp = { run: 'once' }, jitterMs = 0, silentAfter = 3 }: Policy) => ({
  overlap,
  catchUp,
  jitterMs,
  silentAfter,
});

export const schedule = (cron: string, timezone: string, given: Policy = {}): TimeTrigger => ({
  on: 'schedule',
  id: triggerId('schedule', [cron, timezone]),
  cron,
  timezone,
  ...policy(given),
});

export const every = (everyMs: number, given: Policy = {}): TimeTrigger => ({
  on: 'every',
  id: triggerId('every', [everyMs]),
  everyMs,
  ...policy(given),
});

export const loopOf = (name: string, ...triggers: ScheduledLoop['triggers']): ScheduledLoop => ({ name, file: `${name}.md`, triggers });

/** Registers in memory, with what `engine.put` promises: all or nothing, revisions, `expect`. */
export const memoryRegisters = (): Registers => {
  const tables = new Map<string, Map<string, { value: unknown; revision: number; order: number }>>();
  let order = 0;
  const table = (name: string) => {
    const known = tables.get(name) ?? new Map<string, { value: unknown; revision: number; order: number }>();
    tables.set(name, known);
    return known;
  };
  return {
    get: (register, key) => table(register).get(key),
    list: (register, { prefix = '', after = '', limit = Infinity, newestFirst = false }) =>
      [...table(register)]
        .filter(([key]) => key.startsWith(prefix) && key > after)
        .sort(([a, { order: x }], [b, { order: y }]) => (newestFirst ? y - x : a < b ? -1 : 1))
        .slice(0, limit)
        .map(([key, { value, revision }]) => ({ key, value, revision })),
    put: (entries) => {
      for (const { register, key, expect } of entries)
        if (expect !== undefined && (table(register).get(key)?.revision ?? 0) !== expect) return Promise.resolve(false);
      for (const { register, key, value } of entries) {
        order += 1;
        // Values are what JSON gives back, as in the journal.
        if (value === undefined) table(register).delete(key);
        else
          table(register).set(key, {
            value: JSON.parse(JSON.stringify(value)) as unknown,
            revision: (table(register).get(key)?.revision ?? 0) + 1,
            order,
          });
      }
      return Promise.resolve(true);
    },
  };
};

export interface FakeTick {
  readonly window: Window;
  readonly startedAt: EpochMs;
  endsAt: number;
  /** Kept when the clock is set back behind its end. */
  hasEnded: boolean;
  exit: string;
}

/** Where time is a number, ticks end when they are told to, and every timer fires in order. */
export class World {
  now: EpochMs;
  readonly #memory = memoryRegisters();
  /** Told of every write that arrives. */
  onPut: (entries: Parameters<Registers['put']>[0]) => void = () => {};
  readonly registers: Registers = {
    get: (register, key) => this.#memory.get(register, key),
    list: (register, filter) => this.#memory.list(register, filter),
    put: (entries) => {
      if (this.isDead) return Promise.reject(new Error('A dead process writes nothing.'));
      this.onPut(entries);
      return this.#memory.put(entries);
    },
  };
  readonly reports: ScheduleReport[] = [];
  /** Every tick ever started, in order. */
  readonly started: FakeTick[] = [];
  /** How long a tick takes. */
  tickMs = 0;
  /** Called before a tick is on disk, and after it. May throw: the process dies there. */
  onStart: (when: 'before' | 'after') => void = () => {};
  scheduler: Scheduler | undefined;
  /** A process that died in the middle of something: nothing of it runs. */
  isDead = false;
  readonly cancelled: string[] = [];
  #timers: { readonly dueMs: number; readonly act: () => void }[] = [];
  readonly #byId = new Map<string, FakeTick>();

  constructor(now: string) {
    this.now = at(now);
  }

  readonly ticks: Ticks = {
    start: (window) => {
      this.onStart('before');
      if (!this.#byId.has(window.id)) {
        const tick = { window, startedAt: this.now, endsAt: this.now + this.tickMs, hasEnded: false, exit: 'nothing-to-do' };
        this.#byId.set(window.id, tick);
        this.started.push(tick);
      }
      this.onStart('after');
      return Promise.resolve();
    },
    exists: (id) => this.#byId.has(id),
    running: (loop) =>
      this.started
        .slice(-50)
        .filter(({ window, endsAt, hasEnded }) => window.loop === loop && !hasEnded && endsAt > this.now)
        .map(({ window }) => ({ id: window.id })),
    cancel: (id) => {
      this.cancelled.push(id);
      const tick = this.#byId.get(id);
      if (tick !== undefined) Object.assign(tick, { endsAt: this.now, exit: 'stopped' });
      return Promise.resolve();
    },
    ended: (loop, since) =>
      this.started
        .filter(({ window, endsAt, hasEnded }) => window.loop === loop && (hasEnded || endsAt <= this.now) && endsAt >= since)
        .map(({ window, exit, endsAt }): EndedTick => ({ id: window.id, exit, endedAt: epochMs(endsAt) }))
        .sort((a, b) => a.endedAt - b.endedAt),
  };

  readonly timers: Timers = {
    after: (ms, act) => {
      const timer = { dueMs: this.now + ms, act };
      this.#timers.push(timer);
      return {
        cancel: () => {
          this.#timers = this.#timers.filter((other) => other !== timer);
        },
      };
    },
  };

  async start(loops: readonly ScheduledLoop[], more: Partial<SchedulerOptions> = {}): Promise<Scheduler> {
    this.scheduler = createScheduler({
      loops,
      registers: this.registers,
      ticks: this.ticks,
      clock: () => this.now,
      timers: this.timers,
      repository: undefined,
      env: {},
      server: { host: '127.0.0.1', port: 0 },
      report: (report) => this.reports.push(report),
      ...more,
    });
    await this.scheduler.start();
    return this.scheduler;
  }

  /** The process dies: its timers are gone, the registers and the ticks stay. */
  die(): void {
    this.#timers = [];
    this.scheduler = undefined;
    this.isDead = false;
  }

  /** Lets time pass; each timer fires when it is due. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    for (;;) {
      const next = this.#timers.toSorted((a, b) => a.dueMs - b.dueMs)[0];
      if (next === undefined || next.dueMs > until) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.now = epochMs(Math.max(this.now, next.dueMs));
      next.act();
      await this.rest();
    }
    this.now = epochMs(Math.max(this.now, until));
  }

  /** The same for long times: from one due instant to the next, without the slices in between. */
  async passQuickly(ms: number): Promise<void> {
    const until = this.now + ms;
    while (this.now < until && !this.isDead) {
      const next = this.scheduler?.next() ?? until;
      this.now = epochMs(Math.min(until, Math.max(next, this.now + 30_000)));
      await this.scheduler?.look();
    }
    this.now = epochMs(until);
  }

  async passTo(iso: string): Promise<void> {
    await this.pass(at(iso) - this.now);
  }

  /** The clock shows another time; timers go on by what they had left, as a monotonic clock has it. */
  jump(ms: number): void {
    for (const tick of this.started) {
      if (tick.endsAt <= this.now) tick.hasEnded = true;
      else if (!tick.hasEnded) tick.endsAt += ms;
    }
    this.now = epochMs(this.now + ms);
    this.#timers = this.#timers.map((timer) => ({ ...timer, dueMs: timer.dueMs + ms }));
  }

  /** Until the scheduler has done what it was woken for. */
  async rest(): Promise<void> {
    for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
  }

  records(prefix = ''): readonly WindowRecord[] {
    return this.registers.list('windows', { prefix }).map(({ value }) => value as WindowRecord);
  }

  /** `fired 2026-10-25T00:30:00.000Z` of every record, `missed <from> to <to> (8)` for a stretch. */
  ends(prefix = ''): readonly string[] {
    const iso = (value: number): string => new Date(value).toISOString().replace(':00.000Z', 'Z');
    return this.records(prefix).map(({ end, from, to, count }) =>
      count === 1 ? `${end} ${iso(from)}` : `${end} ${iso(from)} to ${iso(to)} (${count})`,
    );
  }

  fired(): readonly string[] {
    return this.started.map(({ window }) => new Date(window.at).toISOString().replace(':00.000Z', 'Z'));
  }
}

export const hourMs = 3_600_000;
export const minuteMs = 60_000;
export const dayMs = 24 * hourMs;
