import { oneLine } from '../core/text.ts';

/** The first line of a task's note: by it the note is known again. A person does not see it. */
export const noteMark = (taskKey: string): string => `<!-- gyre:task ${taskKey} -->`;

const stateLetters = 600;

/** What mentions people or marks up text has no place in a note that nobody has looked through. */
const plain = (text: string, letters: number): string => oneLine(text, letters).replace(/[@<`]/g, '');

/**
 * The status note of a task, in Markdown. Pure: the same state gives the same text, so that a note is edited only when something changed.
 * @param note.state one sentence in Gyre's own words: a note is public, and what a check printed may hold secrets or paths
 */
export const noteText = (note: { readonly task: string; readonly loop: string; readonly run: string; readonly state: string }): string =>
  [
    noteMark(note.task),
    `**Gyre** (loop \`${plain(note.loop, 64)}\`, run \`${note.run}\`): ${plain(note.state, stateLetters)}`,
    '',
    'This comment is edited as the work goes on.',
  ].join('\n');
