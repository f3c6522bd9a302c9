// Reading a run's row back into words. The journal keeps JSON; these are the only places that say what it means.
import { exitCodes, type RunExit } from '../core/exit.ts';
import { addSpend, noSpend, unknownSpend, type Spend } from '../core/spend.ts';
import type { RunRow } from '../journal/index.ts';
import type { AttemptView, RunInput, RunNow, RunOutput, TickInput, TickOutput } from './port.ts';

/** The names and versions under which the engine knows the two kinds of runs. */
export const taskHandler = { name: 'task', version: 1 } as const;
export const tickHandler = { name: 'tick', version: 1 } as const;

/** Runs of tasks; the others are ticks, which are for the schedule and not for people to read. */
export const isTaskRun = (row: Pick<RunRow, 'loop'>): boolean => row.loop === taskHandler.name;

export const inputOf = (row: RunRow): RunInput => row.input as RunInput;

export const tickInputOf = (row: RunRow): TickInput => row.input as TickInput;

/** What a tick came to; `undefined` for one that was cancelled or failed, and for one that is open. */
export const tickOutputOf = (row: RunRow): TickOutput | undefined => (row.state === 'done' ? (row.output as TickOutput) : undefined);

/** The exit of a tick as a whole, by its exit code: what a loop that follows another waits for. */
export const exitOfTick = (row: RunRow): RunExit['exit'] => {
  const output = tickOutputOf(row);
  if (output === undefined) return row.state === 'cancelled' ? 'stopped' : 'fault';
  if (output.exitCode === exitCodes.parked) return 'parked';
  if (output.exitCode === exitCodes.stopped) return 'stopped';
  if (output.exitCode !== 0) return 'fault';
  return output.runs.some((run) => run.output.exit.exit === 'goal-met') ? 'goal-met' : 'nothing-to-do';
};

/** Attempts with a verdict, oldest first; empty for a run that is not known. */
export const attemptsOf = (row: RunRow | undefined): readonly AttemptView[] =>
  (row?.view['attempts'] as readonly AttemptView[] | undefined) ?? [];

/** What an open run is doing, as far as it has said. */
export const nowOf = (row: RunRow): RunNow | undefined => row.view['now'] as RunNow | undefined;

/** The session of an agent that was cut off before it could say what it had spent. */
export const isCutSession = (row: RunRow): boolean => {
  const now = nowOf(row);
  const paid = inputOf(row).loop.agent.use !== 'scripted';
  return paid && now !== undefined && now.stage !== 'set-up' && now.attempt > attemptsOf(row).length;
};

/** True when some session of the run, in this stretch or an earlier one, ended without a count of what it had spent. */
export const spentUnseen = (row: RunRow | undefined): boolean => row?.view['spentUnseen'] === true;

/** What the attempts spent; unknown when a session was cut off (L8). */
export const spendOf = (views: readonly AttemptView[], unseen: boolean): Spend =>
  addSpend([noSpend, ...views.map((view) => view.record.spend), ...(unseen ? [unknownSpend] : [])]);

/** True when all that worked on the run was a script. */
export const calledNoModel = (row: RunRow): boolean => {
  const attempts = attemptsOf(row);
  const ran = attempts.length > 0 || (nowOf(row)?.stage ?? 'set-up') !== 'set-up';
  return ran && inputOf(row).loop.agent.use === 'scripted' && attempts.every((attempt) => attempt.agent?.usageSource === 'no-model');
};

/** Reason text of a run whose task is gone from its source: done or closed by somebody else. */
export const closedElsewhere = 'closed elsewhere: its source does not name it any more';

/** Reason text that marks a run interrupted by the end of its engine's process: not a person's decision about the task. */
export const interrupted = 'interrupted';

/** How an ended run ended; runs that ended without their handler's word (cancelled, failed) get the exit their state means. */
export const outputOf = (row: RunRow): RunOutput => {
  if (row.state === 'done' && row.output !== undefined) return row.output as RunOutput;
  const rest = {
    landed: undefined,
    evidence: undefined,
    spend: spendOf(attemptsOf(row), spentUnseen(row) || isCutSession(row)),
  };
  const reason = row.error?.message ?? '';
  if (row.state === 'cancelled') {
    const exit: RunExit = { exit: 'stopped', by: 'cancelled', why: reason === '' ? 'Cancelled.' : `Cancelled: ${reason}.` };
    return { ...rest, exit, again: reason === interrupted ? 'next-tick' : 'by-person' };
  }
  return { ...rest, exit: { exit: 'fault', code: row.error?.code ?? 'UNKNOWN', why: reason }, again: 'by-person' };
};
