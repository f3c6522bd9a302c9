import { exitText } from '../core/exit.ts';
import type { EpochMs } from '../core/ids.ts';
import { ownershipKeyOf, type Task } from '../core/task.ts';
import { isAwake, noWakeFacts, type Wake, waitText } from '../dispatch/index.ts';
import type { RunRow } from '../journal/index.ts';
import type { Landed } from '../land/index.ts';
import type { Admission, RunOutput } from './port.ts';
import { inputOf, outputOf } from './run-record.ts';

/** Two open runs of one task are impossible, whatever loops found it: this key is what the engine keeps unique among open runs. */
export const dedupeKeyOf = (task: Pick<Task, 'key' | 'claim'>): string => `task/${ownershipKeyOf(task)}`;

const arrived = (landed: Landed): string => (landed.landed === 'merge' ? delivered(landed) : 'its change has landed');

export interface AdmissionView {
  readonly task: Task;
  /** The newest run of this task in this loop. */
  readonly last: RunRow | undefined;
  /** Where the last run's change is now; `undefined` when there was none to deliver. */
  readonly fate: 'on-target' | 'waiting' | 'gone' | undefined;
  /** It was gone from its source and is there again. */
  readonly isBack: boolean;
  /** How this loop lands now. */
  readonly landAs: Landed['landed'];
  /** What the last run waits for, where it goes on by itself. */
  readonly wake: Wake | undefined;
  /** A person asked for the tick: a wait that Gyre chose itself does not hold it back; a reset that a provider named does. */
  readonly byPerson: boolean;
  readonly now: EpochMs;
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

const openText = (run: RunRow): string => {
  if (run.attention !== undefined) return `run ${run.id} needs a person: ${run.attention.message}`;
  return run.state === 'paused' ? `run ${run.id} is paused` : `run ${run.id} of loop ${inputOf(run).loop.name} is at work on it`;
};

/**
 * Decides what a tick does with a task it found, given what was tried before. Pure.
 * A change that waits to be brought in is not made again (no second landing), a run that waits for a person is not started behind
 * their back, and a run that was merely interrupted goes on.
 */
export const admit = ({ task, last, fate, isBack, landAs, wake, byPerson, now }: AdmissionView): Admission => {
  if (last === undefined) return { admit: 'start', task };
  const skip = (why: string, needsPerson: boolean): Admission => ({ admit: 'skip', task, why, needsPerson });
  if (last.endedAt === undefined) return skip(openText(last), last.attention !== undefined);
  const output: RunOutput = outputOf(last);
  if (output.exit.exit === 'goal-met' && output.landed !== undefined) {
    const sameKind = output.landed.landed === landAs;
    if (fate === 'waiting' && sameKind) return skip(`${delivered(output.landed)} (run ${last.id})`, false);
    // Nothing of its own says that it is undone: only its source does, which does not know yet.
    const isUnchanged = task.title === inputOf(last).task.title && !isBack;
    if (fate === 'on-target' && task.proof.by === 'checks' && isUnchanged)
      return skip(`${arrived(output.landed)} (run ${last.id}); its source still names it: close it there, or change it`, false);
    // It is red again although its repair arrived, or the repair was thrown away: new work.
    return { admit: 'start', task };
  }
  if (output.exit.exit === 'nothing-to-do') return { admit: 'start', task };
  if (output.again === 'next-tick' || wake !== undefined) {
    if (wake !== undefined && !isAwake(wake, noWakeFacts, now) && !(byPerson && wake.on === 'time'))
      return skip(waitText({ why: 'parked', wake }), false);
    return { admit: 'reopen', task, run: last.id };
  }
  return skip(`${exitText(output.exit)} Look with: gyre show ${last.id} and go on with: gyre retry ${last.id}`, true);
};
