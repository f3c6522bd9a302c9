import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../src/core/ids.ts';
import {
  abandonProbe,
  beginProbe,
  breakerAfterFailure,
  breakerAfterSuccess,
  breakerGate,
  chooseStarts,
  closedBreaker,
  type Breaker,
  type BreakerNotice,
  type Failure,
} from '../../src/dispatch/index.ts';
import { after, failure, items, noon, view } from './world.ts';

const fail = (breaker: Breaker, task: string, more: Partial<Failure> = {}, now: EpochMs = noon) =>
  breakerAfterFailure(breaker, { loop: 'fix', task, run: `run of ${task}`, failure: failure(more) }, now);

describe('the breaker of a loop', () => {
  it('LIM-05 five tasks with the same login error: two are tried, one notice is given, all stay in the queue', () => {
    const queue = items(5);
    let breaker: Breaker = closedBreaker;
    const notices: BreakerNotice[] = [];
    const calls: string[] = [];
    // A minute of looks, each run failing at once.
    for (let now = noon; now < after(60_000); now = after(200, now)) {
      const [start] = chooseStarts(view({ queue, breakers: { fix: breaker } }, { perLoop: { fix: 1 } }), now).starts;
      if (start === undefined) continue;
      // A failed task keeps its place, so the next call would be for the same one: each is parked for a while, as retries are.
      const task = queue[calls.length]?.id ?? '';
      calls.push(task);
      const change = fail(breaker, task, {}, now);
      breaker = change.breaker;
      if (change.notice !== undefined) notices.push(change.notice);
    }
    expect(calls).toHaveLength(2);
    expect(notices.map((notice) => notice.text)).toEqual([
      'Loop fix has stopped starting tasks, because they fail alike (configuration): Claude Code was refused (authentication_failed). One task is tried again later; nothing is lost.',
    ]);
    expect(chooseStarts(view({ queue, breakers: { fix: breaker } }), after(60_000)).waits).toHaveLength(5);
  });

  it('LIM-05 the same task again is no second task, and another failure begins the count anew', () => {
    let { breaker } = fail(closedBreaker, 'a');
    ({ breaker } = fail(breaker, 'a'));
    expect(breaker.state).toBe('closed');
    ({ breaker } = fail(breaker, 'b', { fingerprint: 'another' }));
    expect(breaker).toMatchObject({ state: 'closed', tasks: ['b'] });
    ({ breaker } = fail(breakerAfterSuccess(), 'c', { fingerprint: 'another' }));
    expect(breaker).toMatchObject({ state: 'closed', tasks: ['c'] });
  });

  it('DPT-17 a probe goes out after the cool-down, and its failure opens again for longer and in silence', () => {
    const opened = fail(fail(closedBreaker, 'a').breaker, 'b');
    expect(breakerGate(opened.breaker, after(299_999)).gate).toBe('shut');
    expect(breakerGate(opened.breaker, after(300_000)).gate).toBe('probe');
    const half = beginProbe(opened.breaker, 'run of c');
    expect(breakerGate(half, after(300_000))).toMatchObject({ gate: 'shut', until: undefined });
    const again = fail(half, 'c', {}, after(300_000));
    expect(again).toMatchObject({ breaker: { state: 'open', opens: 2, probeAt: after(900_000) }, notice: undefined });
    // Never longer than an hour.
    let { breaker } = again;
    for (let round = 0; round < 40; round += 1) ({ breaker } = fail(beginProbe(breaker, 'run of d'), 'd'));
    expect(breaker).toMatchObject({ probeAt: after(3_600_000), opens: 42 });
  });

  it('DPT-17 a probe that fails in another way is told again, unless the task itself failed', () => {
    const half = beginProbe(fail(fail(closedBreaker, 'a').breaker, 'b').breaker, 'run of c');
    expect(fail(half, 'c', { fingerprint: 'disk', class: 'machine' }).notice?.class).toBe('machine');
    expect(fail(half, 'c', { fingerprint: 'red', class: 'task' })).toMatchObject({ breaker: { state: 'closed' }, notice: undefined });
  });

  it('DPT-17 what fails late, begun before the opening, changes nothing', () => {
    const { breaker } = fail(fail(closedBreaker, 'a').breaker, 'b');
    expect(fail(breaker, 'late')).toEqual({ breaker, notice: undefined });
    const half = beginProbe(breaker, 'run of c');
    expect(fail(half, 'late')).toEqual({ breaker: half, notice: undefined });
  });

  it('DPT-17 a probe that was cut off leaves room for another', () => {
    const half = beginProbe(fail(fail(closedBreaker, 'a').breaker, 'b').breaker, 'run of c');
    expect(abandonProbe(half, 'another run', noon)).toEqual(half);
    expect(breakerGate(abandonProbe(half, 'run of c', after(5)), after(5)).gate).toBe('probe');
  });

  it('LIM-05 the probe waits for the reset that the provider named', () => {
    const resetAt = after(9_000_000);
    const limited = { class: 'provider', resetAt } as const;
    expect(fail(fail(closedBreaker, 'a', limited).breaker, 'b', limited).breaker).toMatchObject({ state: 'open', probeAt: resetAt });
  });

  it('L14 a breaker is plain JSON', () => {
    const states = [closedBreaker, fail(closedBreaker, 'a').breaker, fail(fail(closedBreaker, 'a').breaker, 'b').breaker];
    for (const state of states)
      expect(JSON.parse(JSON.stringify(state))).toEqual(
        state.state === 'closed' && state.cause === undefined ? { state: 'closed', tasks: [] } : state,
      );
  });
});
