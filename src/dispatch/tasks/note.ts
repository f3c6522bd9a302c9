// The state of a task as one comment where people look: edited, never repeated. A hidden marker in it says which task it is about.
import { spendText } from '../../core/spend.ts';
import { oneLine } from '../../core/text.ts';
import { wakeText } from '../wait-text.ts';
import type { TaskRecord } from './port.ts';

/** A comment of a tracker. `id` is the tracker's own. */
export interface TaskNote {
  readonly id: string;
  readonly text: string;
}

/** A place where others see the task. `task` is its outside name, e.g. `github:owner/repo#12`. */
export interface TaskTracker {
  /** The oldest comment of Gyre's own account that holds the marker. */
  findNote(task: string, marker: string): Promise<TaskNote | undefined>;
  /** Writes a comment, or edits the one of this id. */
  putNote(task: string, note: { readonly id: string | undefined; readonly text: string }): Promise<void>;
}

const runsShown = 5;
const summaryLetters = 200;

export const noteMarker = (record: Pick<TaskRecord, 'id'>): string => `<!-- gyre:task ${record.id} -->`;

/** Text of others inside our comment: one line, no markup of its own, no marker of another task, nobody called by name. */
const quoted = (text: string, letters: number): string =>
  oneLine(text, letters)
    .replace(/[\\`*_[\]|#]/g, '\\$&')
    .replaceAll('<', '&lt;')
    // A zero-width blank keeps a tracker from sending a notice to whoever the text names.
    .replaceAll('@', '@\u200B');

const stateTexts: Readonly<Record<TaskRecord['state'], string>> = {
  open: 'It waits for its turn.',
  claimed: 'A run is at work on it.',
  parked: 'It waits.',
  delivered: 'A change is ready and waits to be brought in.',
  landed: 'A change has landed.',
  vanished: 'Its source does not name it any more; work on it has ended.',
  closed: 'It was given up.',
};

const stateText = ({ state, wake }: TaskRecord): string =>
  state !== 'parked' || wake === undefined ? stateTexts[state] : `It is put aside: ${quoted(wakeText(wake), 300)}.`;

/** The comment for a record. Pure; it changes only when the record's state or its runs do. */
export const noteFor = (record: TaskRecord): string => {
  const shown = record.tried.slice(-runsShown);
  const left = record.runs - shown.length;
  return [
    noteMarker(record),
    `**Gyre**, loop ${quoted(record.loop, 80)}: ${stateText(record)}`,
    ...(record.runs === 0 ? [] : ['', `Runs so far: ${record.runs} (${spendText(record.spend)}).`]),
    ...(left > 0 ? [`- ${left} older left out`] : []),
    ...shown.map((tried) => `- ${tried.run}, ${quoted(tried.exit, 40)}: ${quoted(tried.summary, summaryLetters)}`),
  ].join('\n');
};

export type NoteChange =
  | { readonly change: 'none' }
  | { readonly change: 'create' | 'edit'; readonly id: string | undefined; readonly text: string };

// Trackers trim texts and turn line ends.
const plain = (text: string): string => text.replace(/\r\n?/g, '\n').trim();

/** What is to be done so that the tracker shows this text. Pure. */
export const noteChange = (existing: TaskNote | undefined, text: string): NoteChange => {
  if (existing === undefined) return { change: 'create', id: undefined, text };
  return plain(existing.text) === plain(text) ? { change: 'none' } : { change: 'edit', id: existing.id, text };
};

/**
 * Shows a record's state at its outside name; nothing where it has none. Asking again after a crash finds what was written and does not
 * write it twice. Only the holder of the task's claim may call it: two who look at the same moment would both write.
 * @returns what was done
 */
export const mirrorNote = async (tracker: TaskTracker, record: TaskRecord): Promise<NoteChange['change']> => {
  const { claim } = record.identity;
  if (claim === undefined) return 'none';
  const change = noteChange(await tracker.findNote(claim, noteMarker(record)), noteFor(record));
  if (change.change !== 'none') await tracker.putNote(claim, { id: change.id, text: change.text });
  return change.change;
};
