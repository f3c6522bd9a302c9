// Reading a run's row back into words. The journal keeps JSON; these are the only places that say what it means.
import type { RunExit } from '../core/exit.ts';
import { addSpend, noSpend, unknownSpend, type Spend } from '../core/spend.ts';
import type { RunRow } from '../journal/index.ts';
import type { AttemptView, RunInput, RunNow, RunOutput } from './port.ts';

export const inputOf = (row: RunRow): RunInput => row.input as RunInput;

/** Attempts with a verdict, oldest first; empty for a run that is not known. */
export const attemptsOf = (row: RunRow | undefined): readonly AttemptView[] =>
  (row?.view['attempts'] as readonly AttemptView[] | undefined) ?? [];

/** What an open run is doing, as far as it has said. */
export const nowOf = (row: RunRow): RunNow | undefined => row.view['now'] as RunNow | undefined;

/** Reason text that marks a run interrupted by the end of its engine's process: not a person's decision about the task. */
export const interrupted = 'interrupted';

/** What an attempt cost that was cut off while its agent worked, or before it was judged: nobody read the agent's numbers (L8). */
const unjudgedSpend = (row: RunRow): Spend => {
  const now = nowOf(row);
  const cutOff = now !== undefined && now.attempt > attemptsOf(row).length && (now.stage === 'agent' || now.stage === 'verdict');
  return cutOff && inputOf(row).loop.agent.use !== 'scripted' ? unknownSpend : noSpend;
};

/** How an ended run ended; runs that ended without their handler's word (cancelled, failed) get the exit their state means. */
export const outputOf = (row: RunRow): RunOutput => {
  if (row.state === 'done' && row.output !== undefined) return row.output as RunOutput;
  const rest = {
    landed: undefined,
    evidence: undefined,
    spend: addSpend([unjudgedSpend(row), ...attemptsOf(row).map((attempt) => attempt.record.spend)]),
  };
  const reason = row.error?.message ?? '';
  if (row.state === 'cancelled') {
    const exit: RunExit = { exit: 'stopped', by: 'cancelled', why: reason === '' ? 'Cancelled.' : `Cancelled: ${reason}.` };
    return { ...rest, exit, again: reason === interrupted ? 'next-tick' : 'by-person' };
  }
  return { ...rest, exit: { exit: 'fault', code: row.error?.code ?? 'UNKNOWN', why: reason }, again: 'by-person' };
};
