import type { AgentErrorClass } from '../core/agent-result.ts';
import { epochMs } from '../core/ids.ts';
import { resetTimeFromEpoch, resetTimeOf, type ResetTime } from '../core/reset-time.ts';
import type { ProcessResult } from '../process/index.ts';

// An agent that broke down, or a login that is refused, is not mended by waiting, whatever times its message holds.
const passes: ReadonlySet<AgentErrorClass> = new Set(['rate-limit', 'overloaded', 'billing', 'server']);

const localZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * When the service behind an agent serves again, by an error that the agent ended with.
 * @param error `message`: what the adapter takes for the text of the error, never ordinary output (LIM-01); `epoch`: a field that says it,
 *   in seconds or milliseconds since 1970, believed before the text
 * @param process its end is taken for the moment the error was said, so that reading the same output again gives the same answer
 */
export const resetOf = (
  error: { readonly class: AgentErrorClass; readonly message: string; readonly epoch?: number | undefined },
  process: ProcessResult,
): ResetTime | undefined => {
  if (!passes.has(error.class)) return undefined;
  const saidAt = epochMs(process.endedAt);
  return resetTimeFromEpoch(error.epoch, saidAt) ?? resetTimeOf(error.message, { saidAt, localZone: localZone() });
};

const limitWords = /\b(?:limit|quota|credits?|too many requests|429)\b/i;

/** True for the last words of a program that failed over a limit of its service and said when that ends; anything else stays unknown. */
export const saysLimit = (message: string, process: ProcessResult): boolean =>
  limitWords.test(message) && resetOf({ class: 'rate-limit', message }, process) !== undefined;
