import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../src/core/ids.ts';
import { chooseStarts, waitText, type QueuedItem, type StartDecision, type StartView } from '../../src/dispatch/index.ts';
import { after, item, items, noon, running, view } from './world.ts';

const started = (decision: StartDecision): readonly string[] => decision.starts.map((start) => start.item.id);
const reasons = (decision: StartDecision): Readonly<Record<string, string>> =>
  Object.fromEntries(decision.waits.map(({ item: waiting, reason }) => [waiting.id, reason.why]));

describe('limits', () => {
  it('DPT-10 each kind of slot is counted with what runs already and the sentence names it', () => {
    const queue = [
      item('a', { place: 1 }),
      item('b', { place: 2, loop: 'docs', agent: 'codex' }),
      item('c', { place: 3, loop: 'deps', provider: 'openai', agent: 'pi' }),
      item('d', { place: 4, loop: 'tidy', provider: 'local', agent: 'none' }),
    ];
    const decision = chooseStarts(
      view(
        { queue, running: [running('r1', { loop: 'deps', agent: 'x', provider: 'y' })] },
        { perAgent: { claude: 0 }, perProvider: { anthropic: 0 }, perLoop: { deps: 1 } },
      ),
      noon,
    );
    expect(started(decision)).toEqual(['d']);
    expect(decision.waits.map(({ reason }) => waitText(reason))).toEqual([
      'agent claude has its 0 runs at once',
      'provider anthropic has its 0 runs at once',
      'loop deps has its 1 runs at once',
    ]);
  });

  it('DPT-10 a full machine starts nothing and says so of each', () => {
    const decision = chooseStarts(view({ queue: items(3), running: [running('r1')] }, { machine: 1 }), noon);
    expect(started(decision)).toEqual([]);
    expect(reasons(decision)).toEqual({ t0001: 'full', t0002: 'full', t0003: 'full' });
    expect(decision.nextLookAt).toBeUndefined();
  });

  it('DPT-11 two runs never work on one task, whatever loops they belong to', () => {
    const queue = [
      item('fix/x', { ownership: 'github:o/r#12' }),
      item('docs/x', { ownership: 'github:o/r#12', loop: 'docs' }),
      item('fix/y', { ownership: 'github:o/r#13' }),
    ];
    const decision = chooseStarts(view({ queue, running: [running('r7', { loop: 'deps', ownership: 'github:o/r#13' })] }), noon);
    expect(started(decision)).toEqual(['docs/x']);
    expect(decision.waits.map(({ item: waiting, reason }) => [waiting.id, waitText(reason)])).toEqual([
      ['fix/x', 'claimed by loop docs'],
      ['fix/y', 'claimed by loop deps (run r7)'],
    ]);
  });
});

describe('pace and pressure', () => {
  it('DPT-12 starts keep their gap and the next look is when the next is due', () => {
    const paced = view({ queue: items(3), recentStarts: [{ at: after(-400), loop: 'fix' }] }, { gapMs: 1_000 });
    const early = chooseStarts(paced, noon);
    expect(started(early)).toEqual([]);
    expect(early.nextLookAt).toBe(after(600));
    const due = chooseStarts(paced, after(600));
    expect(started(due)).toEqual(['t0001']);
    expect(due.nextLookAt).toBe(after(1_600));
  });

  it('DPT-12 no minute has more starts than allowed', () => {
    const recentStarts = [-70_000, -50_000, -10_000].map((ms) => ({ at: after(ms), loop: 'fix' }));
    const decision = chooseStarts(view({ queue: items(5), recentStarts }, { startsPerMinute: 3 }), noon);
    expect(started(decision)).toEqual(['t0001']);
    expect(decision.nextLookAt).toBe(after(10_000));
  });

  it('DPT-12 a clock that was set back by a day holds nobody up for longer than the gap', () => {
    const future = view({ queue: items(1), recentStarts: [{ at: after(86_400_000), loop: 'fix' }] }, { gapMs: 1_000 });
    expect(chooseStarts(future, noon).nextLookAt).toBe(after(1_000));
  });

  it('DPT-13 a loaded machine starts nothing more, but one run where none is open', () => {
    const machine = { loadPerCpu: 3, freeMemoryBytes: 1e9 };
    const limits = { loadPerCpuMax: 2 };
    const busy = chooseStarts(view({ queue: items(2), running: [running('r1')], machine }, limits), noon);
    expect(reasons(busy)).toEqual({ t0001: 'load', t0002: 'load' });
    expect(busy.nextLookAt).toBe(after(15_000));
    expect(started(chooseStarts(view({ queue: items(2), machine }, limits), noon))).toEqual(['t0001']);
  });

  it('DPT-13 without memory nothing is started at all', () => {
    const machine = { loadPerCpu: 0, freeMemoryBytes: 10_485_760 };
    const decision = chooseStarts(view({ queue: items(1), machine }, { freeMemoryBytesMin: 536_870_912 }), noon);
    expect(decision.waits.map(({ reason }) => waitText(reason))).toEqual(['10 MB of memory are free, below 512']);
  });
});

describe('order', () => {
  it('DPT-14 ten minutes of waiting are worth one point of priority', () => {
    const older = item('older', { enqueuedAt: after(-21 * 60_000), priority: 0, place: 9 });
    const urgent = item('urgent', { priority: 2, place: 10 });
    const most = item('most', { priority: 3, place: 11 });
    const decision = chooseStarts(view({ queue: [urgent, most, older] }), noon);
    expect(started(decision)).toEqual(['most', 'older', 'urgent']);
  });

  it('DPT-14 a parked item takes its old place when it wakes', () => {
    const first = item('first', { place: 1, enqueuedAt: after(-60_000), wake: { on: 'time', at: after(5_000) } });
    const queue = [item('second', { place: 2 }), item('third', { place: 3 }), first];
    const asleep = chooseStarts(view({ queue }, { perLoop: { fix: 1 } }), noon);
    expect(started(asleep)).toEqual(['second']);
    expect(asleep.waits.map(({ item: waiting }) => waiting.id)).toEqual(['first', 'third']);
    expect(asleep.nextLookAt).toBe(after(5_000));
    expect(started(chooseStarts(view({ queue }, { perLoop: { fix: 1 } }), after(5_000)))).toEqual(['first']);
  });

  it('DPT-15 a loop with a thousand items leaves the others their share', () => {
    const queue = [...items(1_000, {}, 'a'), ...items(3, { loop: 'docs' }, 'b'), ...items(3, { loop: 'deps' }, 'c')];
    const decision = chooseStarts(view({ queue }, { machine: 6 }), noon);
    expect(started(decision)).toEqual(['c0001', 'b0001', 'a0001', 'c0002', 'b0002', 'a0002']);
  });

  it('DPT-15 slots held now count before starts made lately', () => {
    const queue = [item('fix/a'), item('docs/a', { loop: 'docs' })];
    const recentStarts = Array.from({ length: 9 }, (_, at) => ({ at: after(-at * 60_000), loop: 'docs' }));
    expect(started(chooseStarts(view({ queue, running: [running('r1')], recentStarts }, { machine: 2 }), noon))).toEqual(['docs/a']);
    // Starts older than an hour are forgotten.
    const old = recentStarts.map(({ loop }) => ({ at: after(-3_600_000), loop }));
    expect(started(chooseStarts(view({ queue, recentStarts }, { machine: 1 }), noon))).toEqual(['fix/a']);
    expect(started(chooseStarts(view({ queue, recentStarts: old }, { machine: 1 }), noon))).toEqual(['docs/a']);
  });

  it('DPT-15 with one slot, starts follow the weights', () => {
    const queue = [...items(100, {}, 'a'), ...items(100, { loop: 'docs' }, 'b')];
    let left: readonly QueuedItem[] = queue;
    const recentStarts: { at: EpochMs; loop: string }[] = [];
    for (let turn = 0; turn < 30; turn += 1) {
      const [start] = chooseStarts(view({ queue: left, weights: { fix: 2 }, recentStarts }, { machine: 1 }), after(turn)).starts;
      if (start === undefined) break;
      recentStarts.push({ at: after(turn), loop: start.item.loop });
      left = left.filter((one) => one !== start.item);
    }
    expect(recentStarts.filter(({ loop }) => loop === 'fix')).toHaveLength(20);
  });
});

describe('needs', () => {
  const queue = [item('B', { needs: ['A'] })];
  it('DSP-07 what needs a task waits until that one has landed', () => {
    expect(started(chooseStarts(view({ queue: [...queue, item('A')], needs: new Map([['A', 'open']]) }), noon))).toEqual(['A']);
    expect(started(chooseStarts(view({ queue, needs: new Map([['A', 'delivered']]) }), noon))).toEqual([]);
    expect(started(chooseStarts(view({ queue, needs: new Map([['A', 'landed']]) }), noon))).toEqual(['B']);
  });

  it('DSP-07 what needs a failed task is shown as blocked by it', () => {
    const decision = chooseStarts(view({ queue, needs: new Map([['A', 'failed']]) }), noon);
    expect(decision.waits.map(({ reason }) => waitText(reason))).toEqual(['blocked by A, which failed']);
  });

  it('DSP-07 a need that nobody has named and a circle of needs are said', () => {
    const odd = [
      item('B', { needs: ['Z'], place: 1 }),
      item('C', { needs: ['D'], place: 2 }),
      item('D', { needs: ['C'], place: 3 }),
      item('E', { needs: ['C'], place: 4 }),
    ];
    const known = new Map([
      ['C', 'open'],
      ['D', 'open'],
    ] as const);
    expect(chooseStarts(view({ queue: odd, needs: known }), noon).waits.map(({ reason }) => waitText(reason))).toEqual([
      'needs Z, which no source has named',
      'stands in a circle of needs: C needs D needs C',
      'stands in a circle of needs: C needs D needs C',
      'needs C to land first',
    ]);
  });
});

describe('breaker, quota and people', () => {
  const cause = { fingerprint: 'f', class: 'configuration', message: 'Not logged in.' } as const;

  it('LIM-05 an open breaker holds its loop and no other', () => {
    const open = { state: 'open', cause, openedAt: noon, probeAt: after(20_000), opens: 1 } as const;
    const queue = [...items(2), item('other', { loop: 'docs' })];
    const decision = chooseStarts(view({ queue, breakers: { fix: open } }), noon);
    expect(started(decision)).toEqual(['other']);
    expect(decision.nextLookAt).toBe(after(20_000));
    const probe = chooseStarts(view({ queue, breakers: { fix: open } }), after(20_000));
    expect(probe.starts).toEqual([
      { item: queue[2], isProbe: false },
      { item: queue[0], isProbe: true },
    ]);
  });

  it('LIM-05 after one such failure a loop goes on with one run at a time', () => {
    const closed = { state: 'closed', cause, tasks: ['x'] } as const;
    expect(started(chooseStarts(view({ queue: items(3), breakers: { fix: closed } }), noon))).toEqual(['t0001']);
    const busy = chooseStarts(view({ queue: items(3), running: [running('r1')], breakers: { fix: closed } }), noon);
    expect(reasons(busy)).toEqual({ t0001: 'one-at-a-time', t0002: 'one-at-a-time', t0003: 'one-at-a-time' });
    expect(waitText({ why: 'one-at-a-time', loop: 'fix', message: 'Not logged in.' })).toBe(
      'loop fix goes on with one run at a time until one gets through: Not logged in.',
    );
  });

  it('LIM-03 a provider that refused holds back all that need it until its reset, and nothing else', () => {
    const queue = [...items(2), item('local', { provider: 'local' })];
    const decision = chooseStarts(view({ queue, quotas: { anthropic: after(20_000) } }), noon);
    expect(started(decision)).toEqual(['local']);
    expect(reasons(decision)).toEqual({ t0001: 'quota', t0002: 'quota' });
    expect(decision.nextLookAt).toBe(after(20_000));
  });

  it('LIM-07 nothing starts before the reset, the next look is not later than a minute after it, and then it starts once', () => {
    const reset = after(3_600_000);
    const parked = item('t1', { wake: { on: 'quota', at: reset, provider: 'anthropic' } });
    let now = noon;
    const starts: number[] = [];
    let queue: readonly QueuedItem[] = [parked];
    while (queue.length > 0 && now < after(7_200_000)) {
      const decision = chooseStarts(view({ queue, quotas: { anthropic: reset } }), now);
      for (const start of decision.starts) {
        starts.push(now);
        queue = queue.filter((one) => one !== start.item);
      }
      if (decision.nextLookAt !== undefined) expect(decision.nextLookAt - now).toBeLessThanOrEqual(60_000);
      now = decision.nextLookAt ?? now;
    }
    expect(starts).toEqual([reset]);
  });

  it('LIM-07 a person may go on before the reset', () => {
    const parked = item('t1', { wake: { on: 'quota', at: after(1_000), provider: 'anthropic' } });
    const decision = chooseStarts(view({ queue: [parked], quotas: { anthropic: after(1_000) }, resumed: new Set(['t1']) }), noon);
    expect(started(decision)).toEqual(['t1']);
  });
});

// Any view of up to 40 items in up to 4 loops.
const names = fc.constantFrom('a', 'b', 'c', 'd');
const slots = fc.dictionary(names, fc.integer({ min: 0, max: 4 }));
const queued: fc.Arbitrary<QueuedItem> = fc
  .record({
    loop: names,
    agent: names,
    provider: names,
    task: fc.integer({ min: 0, max: 30 }),
    priority: fc.integer({ min: -200, max: 200 }),
  })
  .chain((base) =>
    fc
      .record({
        enqueuedAt: fc.integer({ min: -86_400_000, max: 0 }),
        isParked: fc.boolean(),
        needs: fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 2 }),
      })
      .map((more) => ({
        ...item(`${base.loop}/${base.task}`),
        ...base,
        task: `k${base.task}`,
        ownership: `k${base.task}`,
        enqueuedAt: after(more.enqueuedAt),
        needs: more.needs.map((need) => `k${need}`),
        wake: more.isParked ? ({ on: 'time', at: after(1_000) } as const) : undefined,
      })),
  );
const views: fc.Arbitrary<StartView> = fc
  .record({
    queue: fc.uniqueArray(queued, { maxLength: 40, selector: (one) => one.id }),
    running: fc.array(fc.record({ loop: names, agent: names, provider: names, task: fc.integer({ min: 0, max: 30 }) }), { maxLength: 6 }),
    machine: fc.integer({ min: 0, max: 10 }),
    perLoop: slots,
    perAgent: slots,
    perProvider: slots,
    landed: fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 20 }),
    weights: fc.dictionary(names, fc.integer({ min: 1, max: 5 })),
  })
  .map((one) =>
    view(
      {
        queue: one.queue.map((entry, index) => ({ ...entry, place: index })),
        running: one.running.map((run, index) => ({ ...run, run: `r${index}`, ownership: `k${run.task}` })),
        weights: one.weights,
        needs: new Map([
          ...one.queue.map((entry) => [entry.task, 'open'] as const),
          ...one.landed.map((task) => [`k${task}`, 'landed'] as const),
        ]),
      },
      { machine: one.machine, perLoop: one.perLoop, perAgent: one.perAgent, perProvider: one.perProvider },
    ),
  );

describe('for any view', () => {
  const countBy = (list: readonly string[]): ReadonlyMap<string, number> =>
    list.reduce((counts, name) => counts.set(name, (counts.get(name) ?? 0) + 1), new Map<string, number>());

  it('DPT-10 no limit is passed by a start, no task has two runs, and every item is answered for', () => {
    fc.assert(
      fc.property(views, (input) => {
        const decision = chooseStarts(input, noon);
        const chosen = decision.starts.map((start) => start.item);
        expect(chosen.length + decision.waits.length).toBe(input.queue.length);
        if (chosen.length > 0) expect(input.running.length + chosen.length).toBeLessThanOrEqual(input.limits.machine);
        for (const [limits, of] of [
          [input.limits.perLoop, 'loop'],
          [input.limits.perAgent, 'agent'],
          [input.limits.perProvider, 'provider'],
        ] as const) {
          const counts = countBy([...input.running, ...chosen].map((one) => one[of]));
          for (const name of new Set(chosen.map((one) => one[of])))
            expect(counts.get(name) ?? 0).toBeLessThanOrEqual(limits[name] ?? Infinity);
        }
        const owned = countBy([...new Set(input.running.map((run) => run.ownership)), ...chosen.map((one) => one.ownership)]);
        for (const one of chosen) expect(owned.get(one.ownership)).toBe(1);
        for (const one of chosen) {
          expect(one.wake).toBeUndefined();
          expect(one.needs.every((need) => input.needs.get(need) === 'landed')).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('DPT-10 nothing waits while all it needs is free', () => {
    fc.assert(
      fc.property(views, (input) => {
        const decision = chooseStarts(input, noon);
        const all = [...input.running, ...decision.starts.map((start) => start.item)];
        for (const { item: waiting, reason } of decision.waits) {
          if (reason.why !== 'full') continue;
          const count =
            reason.of === 'machine'
              ? all.length
              : all.filter((one) => one[reason.of as 'loop' | 'agent' | 'provider'] === reason.name).length;
          expect(count, waiting.id).toBeGreaterThanOrEqual(reason.limit);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('P11 the order of the lists changes nothing', () => {
    fc.assert(
      fc.property(views, fc.integer(), (input, seed) => {
        const shuffled = input.queue.toSorted((a, b) => ((a.place * 7_919 + seed) % 41) - ((b.place * 7_919 + seed) % 41));
        const again = chooseStarts({ ...input, queue: shuffled, running: input.running.toReversed() }, noon);
        const first = chooseStarts(input, noon);
        expect(started(again)).toEqual(started(first));
        expect(reasons(again)).toEqual(reasons(first));
      }),
      { numRuns: 200 },
    );
  });

  it('DPT-15 no item starves: one slot, urgent work arriving without end, every loop and every item has its turn', () => {
    // 2 loops; `busy` gets a new item of the highest priority every minute for 4 days, one run ends every minute.
    const lowest = item('lowest', { loop: 'busy', priority: -1_000 });
    let queue: QueuedItem[] = [lowest, item('quiet', { loop: 'quiet', priority: -1_000 })];
    let recent: { at: EpochMs; loop: string }[] = [];
    const startedAt = new Map<string, number>();
    for (let minute = 0; minute < 4 * 24 * 60 && startedAt.size < Infinity; minute += 1) {
      const now = after(minute * 60_000);
      queue.push(item(`u${minute}`, { loop: 'busy', priority: 1_000, enqueuedAt: now, place: minute + 2 }));
      const [start] = chooseStarts(view({ queue, recentStarts: recent }, { machine: 1 }), now).starts;
      if (start === undefined) continue;
      startedAt.set(start.item.id, minute);
      queue = queue.filter((one) => one !== start.item);
      recent = [...recent.filter(({ at }) => at > now - 3_600_000), { at: now, loop: start.item.loop }];
      if (startedAt.has('lowest')) break;
    }
    expect(startedAt.get('quiet')).toBeLessThanOrEqual(1);
    // At most what arrived within 200 steps of ten minutes after it goes before it.
    expect(startedAt.get('lowest')).toBeLessThanOrEqual(2_002);
  });

  it('DPT-16 a thousand items are decided cheaply', () => {
    const queue = items(1_000).map((one, index) => ({
      ...one,
      loop: `l${index % 20}`,
      needs: index > 0 ? [`t${String(index).padStart(4, '0')}`] : [],
    }));
    const known = new Map(queue.map((one) => [one.task, 'landed'] as const));
    const begun = performance.now();
    for (let round = 0; round < 20; round += 1) chooseStarts(view({ queue, needs: known }, { machine: 50 }), noon);
    // About 1 ms each on an idle machine; the bound is for what would grow with the square.
    expect(performance.now() - begun).toBeLessThan(4_000);
  });
});
