import type { AgentErrorClass, AgentOutcome } from '../core/agent-result.ts';
import type { ProcessResult } from '../process/index.ts';
import { endText, failedOutcome } from './process-outcome.ts';
import { resetOf, saysLimit } from './reset-of.ts';

/** What the stream said about its own end. Structured fields decide; words are asked only where an error has no field that names it. */
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
  /** `resetsAt` of the last `rate_limit_event` that said `rejected`, as it stands there; `undefined` where none did. */
  readonly limitResetsAt: number | undefined;
}

/** An answer of the model's service that asking again does not change. The program was seen to ask ten times all the same, for minutes. */
export interface ClaudeRefusal {
  readonly class: 'auth' | 'billing';
  /** The program's word for it, e.g. `authentication_failed`. */
  readonly error: string;
  readonly httpStatus: number | undefined;
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

/** What an announced retry means where only a person can mend it; `undefined` where waiting may help. */
export const refusalOf = (error: string | undefined, httpStatus: number | undefined): ClaudeRefusal | undefined => {
  const found = classOfAnswerError[error ?? ''];
  return error !== undefined && (found === 'auth' || found === 'billing') ? { class: found, error, httpStatus } : undefined;
};

const refusedOutcome = ({ class: found, error, httpStatus }: ClaudeRefusal): AgentOutcome => {
  const status = httpStatus === undefined ? '' : ` with status ${httpStatus}`;
  const todo = found === 'auth' ? 'Log in by starting `claude`, or correct its key.' : 'Look at the account that it is billed to.';
  return failedOutcome({ class: found, message: `Claude Code was refused${status} (${error}). ${todo}`, httpStatus });
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
 * @param refusal set when the last thing that was heard of the model's service is a refusal; the session was then ended over it
 * @param linesSkipped lines too long to read, one of which may have been the result
 */
export const claudeOutcome = (input: {
  readonly ending: ClaudeEnding | undefined;
  readonly refusal: ClaudeRefusal | undefined;
  readonly process: ProcessResult;
  readonly linesSkipped: number;
  readonly stderrLine: string;
}): AgentOutcome => {
  const { ending, process } = input;
  if (input.refusal !== undefined) return refusedOutcome(input.refusal);
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
    const byFields = errorClass(ending);
    // Versions that knew no field for the limit of a subscription said it in the text of an API error, which comes as `success`.
    const isLimit = byFields === 'unknown' && ending.isError && ending.subtype === 'success' && saysLimit(message, process);
    const found = isLimit ? 'rate-limit' : byFields;
    const reset = resetOf({ class: found, message, epoch: ending.limitResetsAt }, process);
    return failedOutcome({ class: found, message, httpStatus: ending.apiErrorStatus, reset });
  }
  if (process.end === 'after-result' || process.exitCode === 0) return { outcome: 'completed' };
  return failedOutcome({ class: 'agent-bug', message: `Claude Code reported success but then ended with ${endText(process)}.` });
};
