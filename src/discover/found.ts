import { createHash } from 'node:crypto';
import { taskKey, type TaskKey } from '../core/ids.ts';
import type { DiscoverEntry } from '../core/loop-definition.ts';
import { oneLine } from '../core/text.ts';
import type { Task } from '../core/task.ts';
import type { Discovery, SetAside } from './port.ts';

/** Most letters of evidence that a task carries into a prompt. */
export const taskTextLetters = 8_000;
/** Most letters of a task's own text: somebody wrote it for the agent, so it is given whole where it can be. */
export const taskBodyLetters = 350_000;
/** A key is a name: longer ones are cut and told apart by a hash. */
const keyLetters = 300;

/** What one source gave. */
export type Found = Omit<Discovery, 'unread'>;

export const found = (part: {
  readonly tasks?: readonly Task[];
  readonly setAside?: readonly SetAside[];
  readonly problems?: readonly string[];
}): Found => ({ tasks: part.tasks ?? [], setAside: part.setAside ?? [], problems: part.problems ?? [] });

/** Twelve hexadecimal digits of a text, white space not counted. */
export const shortHash = (text: string): string => createHash('sha256').update(text.replace(/\s+/g, ' ').trim()).digest('hex').slice(0, 12);

export const keyOf = (kind: 'test' | 'exit' | 'task' | 'item' | 'goal', text: string): TaskKey => {
  const whole = `${kind}:${text.replace(/\s+/g, ' ').trim()}`;
  return taskKey(whole.length <= keyLetters ? whole : `${whole.slice(0, keyLetters).toWellFormed()}…${shortHash(whole)}`);
};

/** The entry as its owner wrote it, for people: `tests: npm test`. */
export const sourceName = (entry: DiscoverEntry): string => {
  switch (entry.from) {
    case 'tests':
      return `tests: ${oneLine(entry.command)}`;
    case 'tasks':
      return `tasks: ${entry.file}`;
    case 'command':
      return `command: ${oneLine(entry.command)}`;
    case 'goal':
      return `goal: ${oneLine(entry.condition)}`;
    case 'issues':
      return `issues: ${oneLine([...entry.labels, ...(entry.assignee === undefined ? [] : [`assignee ${entry.assignee}`])].join(', '))}`;
  }
};
