import { describe, expect, it } from 'vitest';
import type { AgentErrorClass, AgentOutcome } from '../../src/core/agent-result.ts';
import type { RunExit } from '../../src/core/exit.ts';
import type { EpochMs } from '../../src/core/ids.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import {
  classifyFailure,
  nextTry,
  retryPolicies,
  type AttemptFacts,
  type FailureClass,
  type TriesByClass,
} from '../../src/dispatch/index.ts';
import { after, failure, noon } from './world.ts';

const failed = (of: AgentErrorClass, message = 'It said no.', resetAt?: EpochMs): AgentOutcome => ({
  outcome: 'failed',
  error: { class: of, message, retryable: true, httpStatus: undefined, resetAt },
});
const inconclusive = (why: string): Verdict => ({ verdict: 'inconclusive', why: [why], reasons: [], notes: [] });
const attempt = (result: AgentOutcome, more: { readonly failure?: string; readonly verdict?: Verdict } = {}): AttemptFacts => ({
  record: { verdict: more.verdict?.verdict ?? 'fail', summary: 'The check is red.', failure: more.failure ?? '' },
  verdict: more.verdict,
  agent: { result },
});
const parked: RunExit = { exit: 'parked', why: 'The agent could not work.' };
const attempts: RunExit = { exit: 'stopped', by: 'attempts', why: '4 of 4 attempts are used.' };

describe('the class of a failure', () => {
  it('DPT-19 comes from what the run recorded', () => {
    const done: AgentOutcome = { outcome: 'completed' };
    const table: readonly (readonly [string, FailureClass | undefined, RunExit, readonly AttemptFacts[]])[] = [
      ['goal met', undefined, { exit: 'goal-met' }, []],
      ['nothing to do', undefined, { exit: 'nothing-to-do' }, []],
      ['cancelled', undefined, { exit: 'stopped', by: 'cancelled', why: 'Cancelled.' }, [attempt(failed('auth'))]],
      ['attempts used', 'task', attempts, [attempt(done, { failure: 'expected 3, got 4' })]],
      ['no attempt', 'task', attempts, []],
      ['too long a prompt', 'task', parked, [attempt(failed('context-overflow'))]],
      ['no verdict', 'check', attempts, [attempt(done, { verdict: inconclusive('npm test timed out.') })]],
      ['crashed', 'agent', attempts, [attempt({ outcome: 'crashed', why: 'exit code 3' })]],
      ['silent', 'agent', attempts, [attempt({ outcome: 'timed-out', limit: 'idle', limitMs: 1 })]],
      ['bug', 'agent', attempts, [attempt(failed('agent-bug'))]],
      ['quota', 'provider', parked, [attempt(failed('rate-limit'))]],
      ['network', 'provider', parked, [attempt(failed('network'))]],
      ['login', 'configuration', parked, [attempt(failed('auth'))]],
      ['billing', 'configuration', parked, [attempt(failed('billing'))]],
      ['set-up', 'configuration', { exit: 'fault', code: 'SETUP_FAILED', why: '`npm ci` failed.' }, []],
      ['disk', 'machine', { exit: 'fault', code: 'STORAGE_FULL', why: 'The disk is full.' }, []],
      // An earlier attempt that met an outage does not make the last one's failure the provider's.
      ['mended', 'task', attempts, [attempt(failed('server')), attempt(done)]],
    ];
    for (const [name, wanted, exit, facts] of table)
      expect([name, classifyFailure({ exit, attempts: facts })?.class]).toEqual([name, wanted]);
  });

  it('LIM-05 the same login error has one fingerprint, whatever its request was called', () => {
    const of = (message: string, kind: AgentErrorClass = 'auth') =>
      classifyFailure({ exit: parked, attempts: [attempt(failed(kind, message))] })?.fingerprint;
    expect(of('401 for request req_011CSHoEeqs5C35K2UUqR7Fy')).toBe(of('401 for request req_99ZZZ'));
    expect(of('x', 'auth')).not.toBe(of('x', 'billing'));
    expect(of('panic at 0x7f01 in pid 4711', 'unknown')).toBe(of('panic at 0x8e02 in pid 12', 'unknown'));
    expect(of('request req_011CSHoEeqs5 refused', 'unknown')).toBe(of('request req_99ZZZ refused', 'unknown'));
    expect(of('panic', 'unknown')).not.toBe(of('no such option', 'unknown'));
  });

  it('DPT-19 what tasks fail with keeps the numbers that tell one from another', () => {
    const of = (text: string) =>
      classifyFailure({ exit: attempts, attempts: [attempt({ outcome: 'completed' }, { failure: text })] })?.fingerprint;
    expect(of('expected 3, got 4')).not.toBe(of('expected 3, got 5'));
    expect(of('expected 3, got 4')).toBe(of('expected 3, got 4'));
  });

  it('LIM-03 the reset that the provider named comes with the failure', () => {
    const facts = [attempt(failed('rate-limit', 'limit', after(9_000)))];
    expect(classifyFailure({ exit: parked, attempts: facts })).toMatchObject({ class: 'provider', resetAt: after(9_000) });
  });
});

describe('the next try of a task', () => {
  const run = (of: FailureClass, draw: number): { readonly waits: readonly number[]; readonly why: string } => {
    const waits: number[] = [];
    let tries: TriesByClass = {};
    for (;;) {
      const next = nextTry(failure({ class: of }), { tries, now: noon, draw });
      if (next.next === 'person') return { waits, why: next.why };
      waits.push((next.at - noon) / 60_000);
      tries = next.tries;
    }
  };

  it('DPT-20 each class has its own waits and its own budget, and then a person decides', () => {
    expect(run('task', 1)).toEqual({ waits: [], why: 'A person is needed (task): Claude Code was refused (authentication_failed).' });
    expect(run('check', 1).waits).toEqual([5, 10]);
    expect(run('agent', 1).waits).toEqual([1, 2, 4]);
    expect(run('provider', 1).waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]);
    expect(run('machine', 1).waits).toEqual([1, 2, 4, 8, 16]);
    expect(run('configuration', 1)).toMatchObject({ waits: [10, 20, 40, 80, 160], why: expect.stringContaining('after 5 more tries') });
    expect(run('agent', 0).waits).toEqual([0.5, 1, 2]);
  });

  it('DPT-20 the tries of one class are not those of another', () => {
    const tries = { provider: retryPolicies.provider.triesMax, agent: 1 };
    expect(nextTry(failure({ class: 'agent' }), { tries, now: noon, draw: 0 })).toEqual({
      next: 'again',
      at: after(60_000),
      tries: { ...tries, agent: 2 },
    });
    expect(nextTry(failure({ class: 'provider' }), { tries, now: noon, draw: 0 }).next).toBe('person');
  });

  it('LIM-03 a named reset is waited for exactly and costs no try', () => {
    const limited = failure({ class: 'provider', resetAt: after(7_200_000) });
    expect(nextTry(limited, { tries: {}, now: noon, draw: 0.3 })).toEqual({ next: 'again', at: after(7_200_000), tries: {} });
    // Over by the time anybody looks: an ordinary try.
    expect(nextTry(limited, { tries: {}, now: after(7_200_000), draw: 0 })).toMatchObject({ tries: { provider: 1 } });
  });
});
