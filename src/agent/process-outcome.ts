import type { AgentErrorClass, AgentOutcome, AgentRunResult } from '../core/agent-result.ts';
import type { ResetTime } from '../core/reset-time.ts';
import type { ProcessLimits, ProcessResult } from '../process/index.ts';

const worthAnotherTry: ReadonlySet<AgentErrorClass> = new Set([
  'rate-limit',
  'overloaded',
  'server',
  'network',
  'output-limit',
  'agent-bug',
  'unknown',
]);

export const failedOutcome = (error: {
  readonly class: AgentErrorClass;
  readonly message: string;
  readonly httpStatus?: number | undefined;
  readonly reset?: ResetTime | undefined;
}): AgentOutcome => ({
  outcome: 'failed',
  error: {
    class: error.class,
    message: error.reset === undefined ? error.message : `${error.message} ${error.reset.note}`.trim(),
    retryable: worthAnotherTry.has(error.class),
    httpStatus: error.httpStatus,
    resetAt: error.reset?.at,
  },
});

/**
 * What the end of the process alone decides, whatever the agent said: what Gyre ended is not the agent's success, because agents were
 * seen to report success after the signal that killed their tool. `undefined` where the agent's own signs are to be read.
 */
export const outcomeOfEnd = (process: ProcessResult, limits: ProcessLimits): AgentOutcome | undefined => {
  switch (process.end) {
    case 'exited':
    case 'after-result':
      return undefined;
    case 'cancelled':
      return { outcome: 'cancelled' };
    case 'deadline':
      return { outcome: 'timed-out', limit: 'deadline', limitMs: limits.deadlineMs ?? process.wallMs };
    case 'idle':
      return { outcome: 'timed-out', limit: 'idle', limitMs: limits.idleMs ?? process.wallMs };
    case 'not-started':
      return failedOutcome({ class: 'config', message: `The agent could not be started: ${process.problem || 'no reason was given'}` });
    case 'owner-died':
      return { outcome: 'crashed', why: 'The agent was ended because the engine that had started it was gone.' };
    case 'lost':
      return { outcome: 'crashed', why: 'The agent and its keeper vanished without a result; the machine may have gone down.' };
  }
};

/** `exit code 3`, `signal SIGKILL`: how a process ended by itself. */
export const endText = (process: ProcessResult): string =>
  process.signal === null ? `exit code ${process.exitCode ?? 'unknown'}` : `signal ${process.signal}`;

/** The part of a run's result that comes from the process and not from the agent. */
export const processPart = (input: {
  readonly process: ProcessResult;
  readonly wasAdopted: boolean;
  readonly stderrTail: string;
}): Pick<AgentRunResult, 'process' | 'stdout' | 'stderr' | 'stderrTail'> => ({
  process: {
    exitCode: input.process.exitCode,
    signal: input.process.signal,
    wallMs: input.process.wallMs,
    orphansKilled: input.process.orphansKilled,
    endedAfterResult: input.process.end === 'after-result',
    wasAdopted: input.wasAdopted,
  },
  stdout: input.process.stdout,
  stderr: input.process.stderr,
  stderrTail: input.stderrTail.toWellFormed(),
});
