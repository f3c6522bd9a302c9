import { exitText } from '../core/exit.ts';
import type { Task } from '../core/task.ts';
import type { RunRow } from '../journal/index.ts';
import type { Landed } from '../land/index.ts';
import type { Admission, RunOutput } from './port.ts';
import { outputOf } from './run-record.ts';

/** Two open runs of one task are impossible: this key is what the engine keeps unique among open runs. */
export const dedupeKeyOf = (loop: string, task: Pick<Task, 'key'>): string => `${loop}/${task.key}`;

export interface AdmissionView {
  readonly task: Task;
  /** The newest run of this task in this loop. */
  readonly last: RunRow | undefined;
  /** Where the last run's change is now; `undefined` when there was none to deliver. */
  readonly fate: 'on-target' | 'waiting' | 'gone' | undefined;
  /** How this loop lands now. */
  readonly landAs: Landed['landed'];
}

const delivered = (landed: Landed): string => {
  switch (landed.landed) {
    case 'branch':
      return `delivered as branch ${landed.branch}, which waits to be merged`;
    case 'patch':
      return `delivered as patch ${landed.file}, which waits to be applied`;
    case 'pull-request':
      return `opened as pull request #${landed.number}, which waits to be merged (${landed.url})`;
    case 'report':
      return 'already repaired in a report, which waits for a person';
    case 'merge':
      return `landed on ${landed.target}`;
    case 'no':
      return `kept as ${landed.ref}`;
  }
};

/**
 * Decides what a tick does with a task it found, given what was tried before. Pure.
 * A change that waits to be brought in is not made again (no second landing), a run that waits for a person is not started behind
 * their back, and a run that was merely interrupted goes on.
 */
export const admit = ({ task, last, fate, landAs }: AdmissionView): Admission => {
  if (last === undefined) return { admit: 'start', task };
  const skip = (why: string, needsPerson: boolean): Admission => ({ admit: 'skip', task, why, needsPerson });
  if (last.endedAt === undefined) return skip(`run ${last.id} is at work on it`, false);
  const output: RunOutput = outputOf(last);
  if (output.exit.exit === 'goal-met' && output.landed !== undefined) {
    const sameKind = output.landed.landed === landAs;
    if (fate === 'waiting' && sameKind) return skip(`${delivered(output.landed)} (run ${last.id})`, false);
    // It is red again although its repair arrived, or the repair was thrown away: new work.
    return { admit: 'start', task };
  }
  if (output.exit.exit === 'nothing-to-do') return { admit: 'start', task };
  if (output.again === 'next-tick') return { admit: 'reopen', task, run: last.id };
  return skip(`${exitText(output.exit)} Look with: gyre show ${last.id} and go on with: gyre retry ${last.id}`, true);
};
