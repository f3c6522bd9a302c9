import type { NeedState } from '../dispatch/index.ts';
import { taskKey } from '../core/ids.ts';
import type { JournalReader } from '../journal/index.ts';
import { dedupeKeyOf } from './admission.ts';
import { outputOf } from './run-record.ts';

/** What is known of a task that another one needs, from its newest run; `undefined` where there was none. */
export const needStateOf = (reader: Pick<JournalReader, 'runs'>, task: string): NeedState | undefined => {
  const last = reader.runs({ dedupeKey: dedupeKeyOf({ key: taskKey(task) }) }).at(-1);
  if (last === undefined) return undefined;
  if (last.endedAt === undefined) return 'open';
  const { exit, landed } = outputOf(last);
  if (exit.exit === 'nothing-to-do') return 'landed';
  if (exit.exit !== 'goal-met') return 'failed';
  return landed?.landed === 'merge' ? 'landed' : 'delivered';
};
