import { type CommitSha, taskKey } from '../core/ids.ts';
import { Fault } from '../core/fault.ts';
import type { LoopDefinition } from '../core/loop-definition.ts';
import type { Task } from '../core/task.ts';
import type { Discovery } from '../discover/index.ts';
import type { JournalReader } from '../journal/index.ts';
import type { Landed } from '../land/index.ts';
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
  /** Keys of tasks that were gone from their source and are there again. */
  readonly back: ReadonlySet<string>;
}

/** The same for one task. */
export type TaskPlanRequest = Omit<PlanRequest, 'discovery'> & { readonly task: Task };

/** Decides for every discovered task what this tick does with it, in rank order. Reads only. */
export const planTick = (parts: PlanParts, { discovery, ...request }: PlanRequest): Promise<readonly Admission[]> =>
  Promise.all(discovery.tasks.map((task) => planTask(parts, { ...request, task })));

/** Decides for one task. Reads only. */
export const planTask = async (parts: PlanParts, { loop, task, base, byPerson, records, back }: TaskPlanRequest): Promise<Admission> => {
  // A task that was renamed has its runs under the names it had.
  const former = (records.get(task.key) ?? []).filter((name) => name !== task.key).map((name) => dedupeKeyOf({ key: taskKey(name) }));
  const rows = [...former, dedupeKeyOf(task)].flatMap((dedupeKey) => parts.reader.runs({ dedupeKey }));
  // An open run counts whoever started it: no two loops work on one task. What was tried before counts for the loop that tried it.
  const open = rows.find((row) => row.endedAt === undefined);
  const last = open ?? rows.findLast((row) => inputOf(row).loop.name === loop.name);
  const landed = last?.state === 'done' ? outputOf(last).landed : undefined;
  const fate =
    landed === undefined || landed.landed === 'no' ? undefined : await fateOf(parts, landed, { tip: base, target: loop.land.target });
  const wake = last === undefined ? undefined : parkedOf(parts.reader, last);
  const isBack = back.has(task.key);
  return admit({ task, last, fate, isBack, landAs: loop.land.as, wake, byPerson, now: parts.clock() });
};

/** A forge that cannot be asked now is no reason to do delivered work again: it counts as waiting. */
const fateOf = async (
  { lander }: Pick<PlanParts, 'lander'>,
  landed: Landed,
  on: Parameters<PlanParts['lander']['fate']>[1],
): Promise<'on-target' | 'waiting' | 'gone'> => {
  try {
    return await lander.fate(landed, on);
  } catch (error) {
    if (error instanceof Fault) return 'waiting';
    throw error;
  }
};
