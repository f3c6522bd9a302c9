import type { AgentErrorClass, AgentOutcome } from '../core/agent-result.ts';
import type { RunExit } from '../core/exit.ts';
import { normaliseFailure } from '../core/fingerprint.ts';
import type { AttemptRecord } from '../core/stop.ts';
import { oneLine } from '../core/text.ts';
import type { Verdict } from '../core/verdict.ts';
import type { Failure, FailureClass } from './failure.ts';

/** What a run recorded of one attempt, as far as it matters here. */
export interface AttemptFacts {
  readonly record: Pick<AttemptRecord, 'verdict' | 'summary' | 'failure'>;
  readonly verdict: Verdict | undefined;
  readonly agent: { readonly result: AgentOutcome } | undefined;
}

/** Longest message, in letters. */
const messageLetters = 300;
/** Letters of normalised text that tell one failure from another. */
const fingerprintLetters = 200;

const classOfAgentError: Readonly<Record<AgentErrorClass, FailureClass>> = {
  auth: 'configuration',
  billing: 'configuration',
  permission: 'configuration',
  config: 'configuration',
  'rate-limit': 'provider',
  overloaded: 'provider',
  server: 'provider',
  network: 'provider',
  // The prompt or the answer does not fit, or the model will not do it: another agent run would meet the same.
  'context-overflow': 'task',
  refusal: 'task',
  'output-limit': 'agent',
  'agent-bug': 'agent',
  unknown: 'agent',
};

/** Codes of faults that name something a person has set up; every other fault is the machine's. */
const configurationFaults: ReadonlySet<string> = new Set(['SETUP_FAILED', 'SUBMODULE_UNAVAILABLE', 'JOURNAL_TOO_NEW']);

// Names of requests and sessions, and every other number: they differ each time, and of what surrounds a task only the kind matters.
const named = /\b(?=[\w-]*\d)[A-Za-z0-9_-]{6,}\b/g;

/** The same trouble of agent, provider or machine in other words of the day: nothing that counts or names is left. */
const coarse = (text: string): string => normaliseFailure(text).replace(named, '<name>').replace(/\d+/g, '#').toLowerCase();

const failure = (
  of: FailureClass,
  { kind, message, same }: { readonly kind: string; readonly message: string; readonly same: string },
): Failure => ({
  class: of,
  fingerprint: [of, kind, same.slice(0, fingerprintLetters)].filter((part) => part !== '').join(' | '),
  message: oneLine(message, messageLetters),
  resetAt: undefined,
});

const ofAgent = (outcome: AgentOutcome): Failure | undefined => {
  switch (outcome.outcome) {
    case 'failed': {
      const { class: kind, message, resetAt } = outcome.error;
      // A login, a quota, an outage: the words vary, the kind does not.
      const same = kind === 'unknown' || kind === 'agent-bug' || kind === 'config' ? coarse(message) : '';
      return { ...failure(classOfAgentError[kind], { kind, message, same }), resetAt };
    }
    case 'crashed':
      return failure('agent', { kind: 'crashed', message: outcome.why, same: coarse(outcome.why) });
    case 'timed-out':
      return failure('agent', { kind: outcome.limit, message: `The agent was ended by its limit (${outcome.limit}).`, same: '' });
    case 'completed':
    case 'cancelled':
    case 'limit':
      return undefined;
  }
};

/**
 * Whose failure a run was, from what it recorded. Pure.
 *
 * The last attempt speaks: an agent that could not work at all before its verdict, a verdict that could not be given after its agent.
 * @param run `attempts`: oldest first
 * @returns undefined when nothing failed: the goal is met, there was nothing to do, or somebody cancelled it
 */
export const classifyFailure = (run: { readonly exit: RunExit; readonly attempts: readonly AttemptFacts[] }): Failure | undefined => {
  const { exit } = run;
  if (exit.exit === 'goal-met' || exit.exit === 'nothing-to-do' || (exit.exit === 'stopped' && exit.by === 'cancelled')) return undefined;
  if (exit.exit === 'fault')
    return failure(configurationFaults.has(exit.code) ? 'configuration' : 'machine', {
      kind: exit.code,
      message: exit.why,
      same: coarse(exit.why),
    });
  const last = run.attempts.at(-1);
  // A verdict was reached in spite of an agent that ended badly: then the verdict says what is wrong, unless it had nothing to judge.
  const byAgent = last?.agent === undefined ? undefined : ofAgent(last.agent.result);
  if (byAgent !== undefined && last?.record.verdict !== 'pass') return byAgent;
  if (last?.verdict?.verdict === 'inconclusive') {
    const why = last.verdict.why.join(' ');
    return failure('check', { kind: 'inconclusive', message: last.record.summary, same: coarse(why) });
  }
  // Numbers that are part of an assertion tell the failures of tasks apart, so they stay.
  const same = last === undefined || last.record.failure === '' ? coarse(exit.why) : last.record.failure;
  return failure('task', { kind: exit.exit === 'stopped' ? exit.by : exit.exit, message: exit.why, same });
};
