import { isEnvironmental, type AgentOutcome } from '../core/agent-result.ts';
import { contextOverflow } from '../core/stop.ts';

/** How a session ended, in a few words for lists and stop rules. */
export const outcomeText = (outcome: AgentOutcome): string => {
  switch (outcome.outcome) {
    case 'completed':
    case 'cancelled':
      return outcome.outcome;
    case 'failed':
      return outcome.error.class === 'context-overflow' ? contextOverflow : `failed: ${outcome.error.class}`;
    case 'timed-out':
      return `timed out: ${outcome.limit}`;
    case 'limit':
      return outcome.limit === 'context' ? contextOverflow : `limit: ${outcome.limit}`;
    case 'crashed':
      return 'crashed';
  }
};

/** The sentence that parks the run when the agent's surroundings, not the task, stand in the way. */
export const blockedBy = (outcome: AgentOutcome): string | undefined =>
  outcome.outcome === 'failed' && isEnvironmental(outcome.error.class) ? `${outcome.error.class}: ${outcome.error.message}` : undefined;
