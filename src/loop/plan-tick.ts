import { type CommitSha, taskKey } from '../core/ids.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import type { Task } from '../core/task.ts';
import type { Discovery } from '../discover/index.ts';
import type { JournalReader } from '../journal/index.ts';
import { admit, dedupeKeyOf } from './admission.ts';
import type { Admission, LoopParts } from './port.ts';
import { parkedOf } from './retries.ts';
import { inputOf, outputOf } from './run-record.ts';

/** What reading a plan needs: no ownership, so that `gyre run --dry-run` works beside a running engine. */
export type PlanParts = Pick<LoopParts, 'lander' | 'clock'> & { readonly reader: Pick<JournalReader, 'runs' | 'registerEntry'> };

export interface PlanRequest {
  readonly loop: LoopDefinition;
  readonly base: CommitSha;
  readonly discovery: Discovery;
  /** Asked for by a person, not by a trigger. */
  readonly byPerson: boolean;
  /** By the task's key: every key it had. A task that is missing has had no other. */
  readonly records: ReadonlyMap<string, readonly string[]>;
}

/** The same for one task. */
export type TaskPlanRequest = Omit<PlanRequest, 'discovery'> & { readonly task: Task };

/** Decides for every discovered task what this tick does with it, in rank order. Reads only. */
export const planTick = (parts: PlanParts, { discovery, ...request }: PlanRequest): Promise<readonly Admission[]> =>
  Promise.all(discovery.tasks.map((task) => planTask(parts, { ...request, task })));

/** Decides for one task. Reads only. */
export const planTask = async (parts: PlanParts, { loop, task, base, byPerson, records }: TaskPlanRequest): Promise<Admission> => {
  // A task that was renamed has its runs under the names it had.
  const former = (records.get(task.key) ?? []).filter((name) => name !== task.key).map((name) => dedupeKeyOf({ key: taskKey(name) }));
  const rows = [...former, dedupeKeyOf(task)].flatMap((dedupeKey) => parts.reader.runs({ dedupeKey }));
  // An open run counts whoever started it: no two loops work on one task. What was tried before counts for the loop that tried it.
  const open = rows.find((row) => row.endedAt === undefined);
  const last = open ?? rows.findLast((row) => inputOf(row).loop.name === loop.name);
  const landed = last?.state === 'done' ? outputOf(last).landed : undefined;
  const fate = landed === undefined || landed.landed === 'no' ? undefined : await parts.lander.fate(landed, base);
  const wake = last === undefined ? undefined : parkedOf(parts.reader, last);
  return admit({ task, last, fate, landAs: loop.land.as, wake, byPerson, now: parts.clock() });
};
