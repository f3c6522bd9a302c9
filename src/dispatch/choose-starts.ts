// Which tasks are started now, and why each other one waits. Rules, in the order they are asked:
//
//  1. What holds an item back by itself: parked, its needs, another run on the same task, its loop's breaker, its provider's quota.
//  2. What holds everybody back: slots of the machine, pace, pressure.
//  3. Slots of its loop, agent and provider.
//  4. Among loops, the one with the fewest slots for its weight goes first; then the one with the fewest starts in the last hour for its
//     weight; then by name. Within a loop, by `inTurn`.
//
// A start only ever takes room away, so an item that was refused once in a call need not be asked again: each item is looked at once.
import { epochMs, type EpochMs } from '../core/ids.ts';
import { breakerGate, type BreakerGate } from './breaker.ts';
import { circlesOf, unmetNeeds } from './needs.ts';
import type { QueuedItem, StartDecision, StartView, WaitReason } from './port.ts';
import { paceDueAt, pressureLookMs, pressureOf, recentStartsMs } from './pressure.ts';
import { inTurn } from './queue-order.ts';
import { isAwake, nextLook, wakesAt } from './wake.ts';

interface Owner {
  readonly loop: string;
  readonly run: string | undefined;
}

/** Counts by name that grow as starts are chosen. */
class Tally {
  readonly #counts = new Map<string, number>();

  constructor(names: readonly string[]) {
    for (const name of names) this.add(name);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  add(name: string): void {
    this.#counts.set(name, this.of(name) + 1);
  }
}

/** The state of one decision while it is being made. */
class Desk {
  readonly #view: StartView;
  readonly #now: EpochMs;
  readonly #circles: ReadonlyMap<string, readonly string[]>;
  readonly #gates = new Map<string, BreakerGate>();
  readonly #owners: Map<string, Owner>;
  readonly #loops: Tally;
  readonly #agents: Tally;
  readonly #providers: Tally;
  readonly #recent: Tally;
  readonly #startTimes: EpochMs[];
  #open: number;

  constructor({ view, queue, now }: { readonly view: StartView; readonly queue: readonly QueuedItem[]; readonly now: EpochMs }) {
    const { running, recentStarts } = view;
    this.#view = view;
    this.#now = now;
    this.#circles = circlesOf(queue);
    this.#owners = new Map(running.map((run) => [run.ownership, { loop: run.loop, run: run.run }]));
    this.#loops = new Tally(running.map((run) => run.loop));
    this.#agents = new Tally(running.map((run) => run.agent));
    this.#providers = new Tally(running.map((run) => run.provider));
    this.#recent = new Tally(recentStarts.filter((start) => start.at > now - recentStartsMs).map((start) => start.loop));
    this.#startTimes = recentStarts.map((start) => start.at);
    this.#open = running.length;
  }

  /** Rule 1, first half: what no other start of this call can change. */
  ownReason(item: QueuedItem): WaitReason | undefined {
    const { facts, resumed, needs } = this.#view;
    if (item.wake !== undefined && !resumed.has(item.id) && !isAwake(item.wake, facts, this.#now))
      return { why: 'parked', wake: item.wake };
    return unmetNeeds(item, needs, this.#circles);
  }

  /** Rule 2. */
  commonReason(): WaitReason | undefined {
    const { limits, machine } = this.#view;
    if (this.#open >= limits.machine) return { why: 'full', of: 'machine', name: 'machine', limit: limits.machine };
    const due = paceDueAt(this.#startTimes, limits, this.#now);
    if (due > this.#now) return { why: 'pace', until: due };
    return pressureOf(machine, limits, this.#open);
  }

  /** Rule 1, second half, and rule 3. */
  reason(item: QueuedItem): WaitReason | undefined {
    const { limits, quotas, resumed } = this.#view;
    const owner = this.#owners.get(item.ownership);
    if (owner !== undefined) return { why: 'owned', ...owner };
    const gate = this.#gate(item.loop);
    if (gate.gate !== 'free') {
      const { message } = gate.cause;
      if (gate.gate === 'shut') return { why: 'breaker', until: gate.until, message };
      if (this.#loops.of(item.loop) > 0) return { why: 'one-at-a-time', loop: item.loop, message };
    }
    const refusedUntil = quotas[item.provider];
    if (refusedUntil !== undefined && refusedUntil > this.#now && !resumed.has(item.id))
      return { why: 'quota', provider: item.provider, until: refusedUntil };
    const full = (of: 'loop' | 'agent' | 'provider', name: string, count: number, limit: number | undefined): WaitReason | undefined =>
      limit !== undefined && count >= limit ? { why: 'full', of, name, limit } : undefined;
    return (
      full('loop', item.loop, this.#loops.of(item.loop), limits.perLoop[item.loop]) ??
      full('agent', item.agent, this.#agents.of(item.agent), limits.perAgent[item.agent]) ??
      full('provider', item.provider, this.#providers.of(item.provider), limits.perProvider[item.provider])
    );
  }

  /** @returns whether it is the probe of its loop's breaker */
  start(item: QueuedItem): boolean {
    const isProbe = this.#gate(item.loop).gate === 'probe';
    this.#owners.set(item.ownership, { loop: item.loop, run: undefined });
    this.#loops.add(item.loop);
    this.#agents.add(item.agent);
    this.#providers.add(item.provider);
    this.#recent.add(item.loop);
    this.#startTimes.push(this.#now);
    this.#open += 1;
    return isProbe;
  }

  /** Rule 4: true when loop `a` goes before loop `b`. */
  goesBefore(a: string, b: string): boolean {
    // Cross-multiplied, so that equal shares are equal numbers.
    const slots = this.#loops.of(a) * this.#weight(b) - this.#loops.of(b) * this.#weight(a);
    if (slots !== 0) return slots < 0;
    const starts = this.#recent.of(a) * this.#weight(b) - this.#recent.of(b) * this.#weight(a);
    return starts === 0 ? a < b : starts < 0;
  }

  #weight(loop: string): number {
    const weight = this.#view.weights[loop] ?? 1;
    return weight > 0 ? weight : 1;
  }

  #gate(loop: string): BreakerGate {
    const known = this.#gates.get(loop);
    if (known !== undefined) return known;
    const gate = breakerGate(this.#view.breakers[loop], this.#now);
    this.#gates.set(loop, gate);
    return gate;
  }
}

/** The instant at which time alone may end this wait. */
const waitEndsAt = (reason: WaitReason, now: EpochMs): EpochMs | undefined => {
  switch (reason.why) {
    case 'parked':
      return wakesAt(reason.wake);
    case 'breaker':
    case 'quota':
    case 'pace':
      return reason.until;
    case 'load':
    case 'memory':
      return epochMs(now + pressureLookMs);
    case 'needs':
    case 'blocked':
    case 'needs-unknown':
    case 'needs-circle':
    case 'one-at-a-time':
    case 'owned':
    case 'full':
      return undefined;
  }
};

/**
 * Decides what is started now. Pure and deterministic: the order of the lists in the view does not matter.
 *
 * Never over a limit, never two runs of one task. An item whose turn has come starts as soon as a slot of each kind it needs is free and
 * its loop has its share; a parked one comes back to the place it had. See docs/reference/dispatch.md.
 */
export const chooseStarts = (view: StartView, now: EpochMs): StartDecision => {
  const queue = inTurn(view.queue);
  const desk = new Desk({ view, queue, now });
  const reasons = new Map<QueuedItem, WaitReason>();
  const starts: { item: QueuedItem; isProbe: boolean }[] = [];

  const ready = new Map<string, QueuedItem[]>();
  for (const item of queue) {
    const reason = desk.ownReason(item);
    if (reason !== undefined) reasons.set(item, reason);
    else {
      const items = ready.get(item.loop);
      if (items === undefined) ready.set(item.loop, [item]);
      else items.push(item);
    }
  }
  const heads = new Map([...ready].map(([loop, items]) => [loop, items.values()]));
  let common = desk.commonReason();
  while (common === undefined && heads.size > 0) {
    let loop: string | undefined;
    for (const name of heads.keys()) if (loop === undefined || desk.goesBefore(name, loop)) loop = name;
    const item = loop === undefined ? undefined : heads.get(loop)?.next().value;
    if (loop !== undefined && item === undefined) heads.delete(loop);
    if (item === undefined) continue;
    const reason = desk.reason(item);
    if (reason !== undefined) {
      reasons.set(item, reason);
      continue;
    }
    starts.push({ item, isProbe: desk.start(item) });
    common = desk.commonReason();
  }

  const started = new Set(starts.map(({ item }) => item));
  const waits = queue.flatMap((item) => {
    if (started.has(item)) return [];
    const reason = reasons.get(item) ?? desk.reason(item) ?? common;
    return reason === undefined ? [] : [{ item, reason }];
  });
  return {
    starts,
    waits,
    nextLookAt: nextLook(
      waits.map(({ reason }) => waitEndsAt(reason, now)),
      now,
    ),
  };
};
