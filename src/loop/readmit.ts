// What a tick decided may be old by the time its turn comes: another tick may have done the task, or be at work on it. So each task is
// decided again right before its start.
import type { EpochMs } from '../core/ids.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import type { Task } from '../core/task.ts';
import { dedupeKeyOf } from './admission.ts';
import { planTask } from './plan-tick.ts';
import type { Admission, LoopParts, TickInput } from './port.ts';
import { outputOf } from './run-record.ts';
import { keysOf, recordsOf } from './task-memory.ts';

export interface Tick {
  readonly loop: LoopDefinition;
  readonly input: Pick<TickInput, 'trigger'>;
  /** Its discovery is younger. */
  readonly startedAt: EpochMs;
}

/** Decides about one task as things are now. Reads only. */
export const readmit = async (parts: LoopParts, { loop, input, startedAt }: Tick, task: Task): Promise<Admission> => {
  const { reader } = parts;
  const done = reader
    .runs({ dedupeKey: dedupeKeyOf(task) })
    .findLast((row) => row.endedAt !== undefined && row.endedAt >= startedAt && outputOf(row).exit.exit === 'goal-met');
  if (done !== undefined) return { admit: 'skip', task, why: `run ${done.id} has done it meanwhile`, needsPerson: false };
  return planTask(parts, {
    loop,
    task,
    base: await parts.resolveBase(loop.land.target),
    byPerson: input.trigger === 'manual',
    // The tick has seen it at its source. Had it landed since, it would be done meanwhile.
    back: new Set([task.key]),
    records: new Map(recordsOf(reader, loop.name).map((record) => [record.identity.key, keysOf(record)])),
  });
};
