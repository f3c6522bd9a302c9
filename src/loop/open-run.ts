import type { RunId } from '../core/ids.ts';
import { cutMiddle } from '../core/text.ts';
import type { LoopHandler, RunHandle, RunRow } from '../journal/index.ts';
import { dedupeKeyOf } from './admission.ts';
import type { Admission, LoopParts, RunInput } from './port.ts';
import { attemptsOf, inputOf } from './run-record.ts';
import { triedBefore } from './task-memory.ts';

/** Letters of a task's long texts that stay in the journal for display. */
const displayLetters = 2_000;

/** A run opened again keeps its task and base; the loop's limits are those of today, and stop rules look at new attempts only. */
export const reopenedInput = (row: RunRow, loop: RunInput['loop'], tick: string): RunInput => ({
  ...inputOf(row),
  loop,
  tick,
  firstAttempt: attemptsOf(row).length + 1,
});

/** Opens the run the plan asks for: a new one from the base as it is now, or an ended one again. */
export const openRun = async (
  parts: LoopParts,
  handler: LoopHandler,
  request: Pick<RunInput, 'loop' | 'prefix' | 'base' | 'tick'> & {
    readonly plan: Exclude<Admission, { admit: 'skip' }>;
    /** Name of a new run. */
    readonly run: RunId;
  },
): Promise<RunHandle> => {
  const { loop, prefix, base, tick, plan, run } = request;
  const { engine, evidence } = parts;
  if (plan.admit === 'reopen') {
    const row = engine.reader.run(plan.run);
    if (row !== undefined) return await engine.reopen(handler, plan.run, reopenedInput(row, loop, tick));
  }
  const { task } = plan;
  const taskText = await evidence.put(JSON.stringify(task));
  const shown = { ...task, body: cutMiddle(task.body, displayLetters), evidence: cutMiddle(task.evidence, displayLetters) };
  const input: RunInput = {
    task: shown,
    taskText,
    loop,
    base,
    prefix,
    firstAttempt: 1,
    tick,
    tried: triedBefore(engine.reader, loop.name, task.key),
  };
  return await engine.start(handler, input, { id: run, dedupeKey: dedupeKeyOf(task) });
};
