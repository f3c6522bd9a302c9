import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import { noSpend } from '../../src/core/spend.ts';
import { contextOverflow, decideNext, type AttemptRecord, type StopPolicy } from '../../src/core/stop.ts';

const policy: StopPolicy = { attempts: 4, noProgress: 2, sameFailure: 3, timeMs: 60_000, budgetUsd: undefined, budgetTokens: undefined };
const fresh = { firstAttempt: 1, elapsedMs: 0 };

const record = (attempt: number, changes: Partial<AttemptRecord> = {}): AttemptRecord => ({
  attempt,
  tree: `tree-${attempt}`,
  verdict: 'fail',
  kinds: ['task-still-red'],
  failing: ['a'],
  fingerprint: `failure-${attempt}`,
  failure: 'expected 1, got 2',
  summary: 'The test a is still red.',
  spend: noSpend,
  agentOutcome: 'completed',
  blocked: undefined,
  ...changes,
});

const exitOf = (records: readonly AttemptRecord[], changes: Partial<StopPolicy> = {}, stretch = fresh): unknown => {
  const next = decideNext(records, { ...policy, ...changes }, stretch);
  return next.next === 'close' ? ('by' in next.exit ? next.exit.by : next.exit.exit) : next.next;
};

describe('stop rules', () => {
  test('L3 a pass on the last allowed attempt wins over the limit', () => {
    expect(exitOf([record(1), record(2), record(3), record(4, { verdict: 'pass' })])).toBe('land');
    expect(exitOf([record(1, { verdict: 'pass' })], { timeMs: 0, budgetUsd: 0, attempts: 1 })).toBe('land');
  });

  test('L3 an agent that completed gets no credit: only the verdict counts', () => {
    expect(exitOf([record(1, { agentOutcome: 'completed' })])).toBe('attempt');
  });

  test('L9 attempts, time and budget have limits, and the sentence names the one to raise', () => {
    const used = decideNext(
      [1, 2, 3, 4].map((n) => record(n)),
      { ...policy, sameFailure: 9 },
      fresh,
    );
    expect(used).toMatchObject({ next: 'close', exit: { exit: 'stopped', by: 'attempts' } });
    expect(JSON.stringify(used)).toContain('Raise stop.attempts above 4');
    expect(exitOf([record(1)], {}, { firstAttempt: 1, elapsedMs: 60_000 })).toBe('time');
    expect(exitOf([record(1, { spend: { usd: 5, tokens: 10 } })], { budgetUsd: 5 })).toBe('budget');
    expect(exitOf([record(1, { spend: { usd: undefined, tokens: 200 } })], { budgetTokens: 200 })).toBe('budget');
  });

  test('L8 unknown cost neither trips a budget nor counts as zero spent elsewhere', () => {
    expect(exitOf([record(1, { spend: { usd: undefined, tokens: undefined } })], { budgetUsd: 1 })).toBe('attempt');
    expect(
      exitOf([record(1, { spend: { usd: undefined, tokens: undefined } }), record(2, { spend: { usd: 1, tokens: 1 } })], { budgetUsd: 1 }),
    ).toBe('budget');
  });

  test('STP-01 a commit is progress: changed trees are never idle, however often the same test is red', () => {
    const parts = [1, 2].map((n) => record(n, { fingerprint: 'same' }));
    expect(exitOf(parts)).toBe('attempt');
  });

  test('L9 unchanged diff, failing set and fingerprint end the run as no-progress', () => {
    const idle = [1, 2].map((n) => record(n, { tree: 'same', fingerprint: 'same' }));
    expect(exitOf(idle)).toBe('no-progress');
    expect(exitOf([idle[0] as AttemptRecord, { ...(idle[1] as AttemptRecord), tree: 'other' }])).toBe('attempt');
    expect(exitOf([idle[0] as AttemptRecord, { ...(idle[1] as AttemptRecord), failing: ['b'] }])).toBe('attempt');
  });

  test('STP-03 the same failure under cosmetic edits parks the run after three attempts and says so', () => {
    const same = [1, 2, 3].map((n) => record(n, { fingerprint: 'expected 1, got 2' }));
    expect(exitOf(same, { attempts: 20 })).toBe('parked');
    expect(JSON.stringify(decideNext(same, { ...policy, attempts: 20 }, fresh))).toContain('Same failure 3 times');
  });

  test('L9 work that moves in a circle ends as oscillation', () => {
    const a = { tree: 'a', fingerprint: 'fa' };
    const b = { tree: 'b', fingerprint: 'fb' };
    expect(exitOf([record(1, a), record(2, b), record(3, a)])).toBe('oscillation');
    expect(exitOf([record(1, a), record(2, b), record(3, { tree: 'c', fingerprint: 'fc' })])).toBe('attempt');
  });

  test('STP-05 a prompt that is too long twice parks the run with that cause', () => {
    const overflow = { agentOutcome: contextOverflow, tree: 'same', fingerprint: 'same' };
    expect(exitOf([record(1, overflow)])).toBe('attempt');
    expect(JSON.stringify(decideNext([record(1, overflow), record(2, overflow)], policy, fresh))).toContain(
      "does not fit the agent's context",
    );
  });

  test('STP-07 a retry under a used-up limit makes no attempt; under a raised one it goes on', () => {
    const two = [record(1), record(2)];
    const retried = { firstAttempt: 3, elapsedMs: 0 };
    expect(exitOf(two, { attempts: 2 }, retried)).toBe('attempts');
    expect(exitOf(two, { attempts: 4 }, retried)).toBe('attempt');
  });

  test('L9 a retry opens a new stretch: old stagnation does not end it at once', () => {
    const idle = [1, 2].map((n) => record(n, { tree: 'same', fingerprint: 'same' }));
    expect(exitOf(idle, {}, { firstAttempt: 3, elapsedMs: 0 })).toBe('attempt');
  });

  test('LIM-05 an agent that cannot log in parks the run and takes nothing from its attempts', () => {
    const blocked = { blocked: 'auth: please log in' };
    expect(exitOf([record(1, blocked)])).toBe('parked');
    expect(exitOf([record(1, blocked), record(2), record(3)], { attempts: 3 }, { firstAttempt: 2, elapsedMs: 0 })).toBe('attempt');
  });

  test('CHT-01 a second cheat parks the run', () => {
    const cheat = { kinds: ['cheat'] };
    expect(exitOf([record(1, cheat)])).toBe('attempt');
    expect(exitOf([record(1, cheat), record(2, cheat)])).toBe('parked');
  });

  test('L9 whatever the history, the number of attempts stays within the limit', () => {
    const records = fc.array(
      fc.record({
        tree: fc.constantFrom('a', 'b', 'c', 'd'),
        fingerprint: fc.constantFrom('x', 'y', 'z'),
        verdict: fc.constantFrom('fail', 'inconclusive'),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(records, fc.integer({ min: 1, max: 12 }), (list, attempts) => {
        const history = list.map((one, index) => record(index + 1, one as Partial<AttemptRecord>));
        if (history.length >= attempts) expect(exitOf(history, { attempts })).not.toBe('attempt');
        expect(exitOf(history, { attempts })).not.toBe('land');
      }),
    );
  });
});
