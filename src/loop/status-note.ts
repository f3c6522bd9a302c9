import { issueOfTask, noteMark, noteText } from '../connect/index.ts';
import type { RunExit } from '../core/exit.ts';
import { Fault } from '../core/fault.ts';
import type { Task } from '../core/task.ts';
import type { RunContext } from '../journal/index.ts';
import type { Landed } from '../land/index.ts';
import type { LoopParts, RunInput, TickEvent } from './port.ts';

/** How a run ended, in words that may be read by anybody: no text of an agent or a check, no path of this machine. Pure. */
export const publicWords = (exit: RunExit, landed: Landed | undefined): string => {
  if (exit.exit !== 'goal-met') return `The work ended without a change (${exit.exit === 'stopped' ? exit.by : exit.exit}).`;
  switch (landed?.landed) {
    case 'pull-request':
      return `Done, waiting to be merged: ${landed.url}`;
    case 'merge':
      return `Done: landed on ${landed.target} as ${landed.commit}.`;
    case 'branch':
      return `Done: branch ${landed.branch}, not published yet.`;
    case 'patch':
    case 'report':
    case 'no':
    case undefined:
      return 'Done, waiting for a person to bring it in.';
  }
};

/**
 * Says on the issue of a task how its work stands, where the loop asks for it. One comment an issue, whatever happens between the writing
 * and the record of it (JRN-07). A note that cannot be written is a fact and told, and never ends a run that was paid for.
 */
export const tellIssue = async (
  {
    parts,
    context,
    input,
    task,
    report,
  }: {
    readonly parts: Pick<LoopParts, 'notes'>;
    readonly context: RunContext;
    readonly input: RunInput;
    readonly task: Task;
    readonly report: (event: TickEvent) => void;
  },
  { moment, state }: { readonly moment: 'begun' | 'ended'; readonly state: string },
): Promise<void> => {
  const name = issueOfTask(task.key);
  if (input.loop.notes !== 'issue' || name === undefined) return;
  const run = context.run.id;
  const key = `note/${context.run.generation}/${moment}`;
  const note = { mark: noteMark(task.key), text: noteText({ task: task.key, loop: input.loop.name, run, state }) };
  const tracker = async () => {
    const notes = await parts.notes();
    if (notes.repository.toLowerCase() === name.repository) return notes;
    throw new Fault('FORGE_REFUSED', `The issue belongs to ${name.repository}, and this repository is ${notes.repository}.`);
  };
  const faultOf = (error: unknown): { readonly written: false; readonly why: string } => {
    if (!(error instanceof Fault)) throw error;
    return { written: false, why: error.message };
  };
  const look = async (): Promise<NoteOutcome | undefined> => {
    const found = await (await tracker()).findNote(name.number, note.mark);
    return found?.text === note.text ? { written: true, why: '' } : undefined;
  };
  const put = async (): Promise<NoteOutcome> => {
    await (await tracker()).putNote(name.number, note);
    return { written: true, why: '' };
  };
  const outcome = await context.step<NoteOutcome>(key, { onCrash: { reconcile: () => look().catch(faultOf) } }, () => put().catch(faultOf));
  if (outcome.written) return;
  await context.record(`${key}/refused`, 'note.refused', { issue: name.number, why: outcome.why });
  report({ event: 'note-refused', run, why: outcome.why });
};

interface NoteOutcome {
  readonly written: boolean;
  readonly why: string;
}
