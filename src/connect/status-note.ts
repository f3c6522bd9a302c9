import { oneLine } from '../core/text.ts';

/** The first line of a task's note: by it the note is known again. A person does not see it. */
export const noteMark = (taskKey: string): string => `<!-- gyre:task ${taskKey} -->`;

const stateLetters = 600;

/**
 * The status note of a task, in Markdown. Pure: the same state gives the same text, so that a note is edited only when something changed.
 * @param note.state what is going on, one sentence
 */
export const noteText = (note: { readonly task: string; readonly loop: string; readonly run: string; readonly state: string }): string =>
  [
    noteMark(note.task),
    // A fence of text, so that words of a log mention nobody and link nothing.
    `Gyre, loop \`${oneLine(note.loop, 64).replaceAll('`', '')}\`, run \`${note.run}\`:`,
    '',
    '```text',
    oneLine(note.state, stateLetters).replaceAll('`', "'"),
    '```',
    '',
    'This comment is edited as the work goes on.',
  ].join('\n');
