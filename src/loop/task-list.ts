// A task list in the repository is the owner's, not the agent's: boxes an agent ticks or items it rewrites do not count. The candidate
// carries the list as it is on base with one change, made by Gyre: the box of the item the run is about.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CommitSha } from '../core/ids.ts';
import type { Task } from '../core/task.ts';
import type { LoopParts } from './port.ts';

const openBox = /^(\s*(?:[-*+]|\d+[.)])\s+)\[ \]/;

/** The list with the box on one line (from 1) ticked; unchanged when that line holds no open box. Pure. */
export const tickItem = (text: string, line: number): string => {
  const lines = text.split('\n');
  const item = lines[line - 1];
  if (item === undefined) return text;
  lines[line - 1] = item.replace(openBox, '$1[x]');
  return lines.join('\n');
};

/** Puts the list right in the workspace. @returns what to say about it, empty when the agent had left it alone */
export const restoreTaskList = async ({
  parts,
  task,
  base,
  prefix,
  dir,
}: {
  readonly parts: Pick<LoopParts, 'readFile'>;
  readonly task: Task;
  readonly base: CommitSha;
  readonly prefix: string;
  readonly dir: string;
}): Promise<readonly string[]> => {
  const { list } = task;
  if (list === undefined) return [];
  const name = path.posix.join(prefix, list.file);
  const onBase = await parts.readFile(base, name);
  if (onBase === undefined) return [];
  const file = path.join(dir, name);
  const left = await readFile(file, 'utf8').catch(() => undefined);
  await writeFile(file, tickItem(onBase, list.line));
  if (left === onBase || left === tickItem(onBase, list.line)) return [];
  return [`The agent changed the task list ${name}; it was put back as it is on base, with only this run's own item ticked.`];
};
