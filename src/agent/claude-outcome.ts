import type { AgentErrorClass, AgentOutcome } from '../core/agent-result.ts';
import type { ProcessResult } from '../process/index.ts';
import { endText, failedOutcome } from './process-outcome.ts';

/** What the stream said about its own end. Structured fields only: words in a text never decide. */
export interface ClaudeEnding {
  readonly subtype: string | undefined;
  readonly isError: boolean;
  readonly terminalReason: string | undefined;
  readonly stopReason: string | undefined;
  readonly apiErrorStatus: number | undefined;
  /** `api_error` of the result, e.g. `connection_failed`. */
  readonly apiError: string | undefined;
  /** `error` of the last answer that was an error message of the program, e.g. `billing_error`. */
  readonly answerError: string | undefined;
  /** For people. */
  readonly message: string;
}

const classOfStatus = (status: number): AgentErrorClass | undefined => {
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'billing';
  if (status === 404) return 'config';
  if (status === 413) return 'context-overflow';
  if (status === 429) return 'rate-limit';
  if (status === 503 || status === 529) return 'overloaded';
  return status >= 500 ? 'server' : undefined;
};

const classOfAnswerError: Readonly<Record<string, AgentErrorClass>> = {
  authentication_failed: 'auth',
  oauth_org_not_allowed: 'auth',
  billing_error: 'billing',
  rate_limit: 'rate-limit',
  overloaded: 'overloaded',
  server_error: 'server',
  model_not_found: 'config',
  max_output_tokens: 'output-limit',
};

const errorClass = (ending: ClaudeEnding): AgentErrorClass => {
  if (ending.stopReason === 'refusal') return 'refusal';
  if (ending.apiError === 'max_output_tokens') return 'output-limit';
  // A refused connection carries `server_error` as its answer's error: the finer field is asked first.
  if (ending.apiError === 'connection_failed' || ending.apiError?.includes('timeout') === true) return 'network';
  // A used-up balance can come with status 400.
  if (ending.answerError === 'billing_error') return 'billing';
  const byStatus = ending.apiErrorStatus === undefined ? undefined : classOfStatus(ending.apiErrorStatus);
  return byStatus ?? classOfAnswerError[ending.answerError ?? ''] ?? 'unknown';
};

// Seen or documented ends of a session that is no success even where `is_error` says nothing.
const badReasons = new Set(['api_error', 'model_error', 'image_error', 'aborted_streaming', 'aborted_tools', 'blocking_limit']);

/**
 * The outcome of a Claude Code session that Gyre did not cut short. "Success" is spread over several fields, and each was seen to lie
 * alone: `subtype` says success with `is_error` on a refused key, and exit code 0 comes with an interrupted session.
 * @param ending `undefined` when the stream held no `result` event
 * @param linesSkipped lines too long to read, one of which may have been the result
 */
export const claudeOutcome = (input: {
  readonly ending: ClaudeEnding | undefined;
  readonly process: ProcessResult;
  readonly linesSkipped: number;
  readonly stderrLine: string;
}): AgentOutcome => {
  const { ending, process } = input;
  if (ending === undefined) {
    // A program that refuses its arguments says so on stderr and prints no event at all.
    const said = input.stderrLine === '' ? '' : ` It said on stderr: ${input.stderrLine}`;
    const skipped = input.linesSkipped === 0 ? '' : ` Lines that were too long to read: ${input.linesSkipped}.`;
    return { outcome: 'crashed', why: `Claude Code ended with ${endText(process)} and without a result.${said}${skipped}` };
  }
  if (ending.subtype === 'error_max_turns' || ending.terminalReason === 'max_turns') return { outcome: 'limit', limit: 'turns' };
  if (ending.subtype === 'error_max_budget_usd' || ending.terminalReason === 'budget_exhausted')
    return { outcome: 'limit', limit: 'budget' };
  if (ending.terminalReason === 'prompt_too_long') return { outcome: 'limit', limit: 'context' };
  if (ending.isError || ending.subtype !== 'success' || badReasons.has(ending.terminalReason ?? '')) {
    const message = ending.message === '' ? `Claude Code ended with ${ending.subtype ?? 'a result of no kind'}.` : ending.message;
    return failedOutcome({ class: errorClass(ending), message, httpStatus: ending.apiErrorStatus });
  }
  if (process.end === 'after-result' || process.exitCode === 0) return { outcome: 'completed' };
  return failedOutcome({ class: 'agent-bug', message: `Claude Code reported success but then ended with ${endText(process)}.` });
};
