import { type NeedState, needStatesOf } from '../dispatch/index.ts';
import { taskKey } from '../core/ids.ts';
import type { JournalReader } from '../journal/index.ts';
import { dedupeKeyOf } from './admission.ts';
import { outputOf } from './run-record.ts';
import { recordsOf } from './task-memory.ts';

/**
 * What is known of a task that another one needs: by what its loop remembers of it, else by its newest run; `undefined` where neither is.
 * A task that was delivered and is gone from its source since was brought in by somebody.
 */
export const needStateOf = (
  reader: Pick<JournalReader, 'runs' | 'register'>,
  { loop, task }: { readonly loop: string; readonly task: string },
): NeedState | undefined => needStatesOf(recordsOf(reader, loop)).get(task) ?? ofRuns(reader, task);

const ofRuns = (reader: Pick<JournalReader, 'runs'>, task: string): NeedState | undefined => {
  const last = reader.runs({ dedupeKey: dedupeKeyOf({ key: taskKey(task) }) }).at(-1);
  if (last === undefined) return undefined;
  if (last.endedAt === undefined) return 'open';
  const { exit, landed } = outputOf(last);
  if (exit.exit === 'nothing-to-do') return 'landed';
  if (exit.exit !== 'goal-met') return 'failed';
  return landed?.landed === 'merge' ? 'landed' : 'delivered';
};
