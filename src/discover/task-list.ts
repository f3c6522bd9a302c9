import { cutMiddle, oneLine, plainText } from '../core/text.ts';
import type { Task } from '../core/task.ts';
import { keyOf, shortHash, taskBodyLetters } from './found.ts';

const itemLine = /^( *)(?:[-*+]|\d{1,9}[.)]) +\[([ xX])\] +(\S.*)$/;
const headingLine = /^ {0,3}(#{1,6}) +(.+?)(?: +#+)? *$/;
const fenceLine = /^ *(`{3,}|~{3,})/;
const checkLine = /^ *check: *(\S.*)$/i;

interface Item {
  /** From 1. */
  readonly line: number;
  readonly indent: number;
  readonly done: boolean;
  readonly text: string;
  readonly section: readonly string[];
  readonly parent: string | undefined;
  readonly lines: string[];
  check: string | undefined;
}

/** Takes the common marks off a command: `check: \`npm test\`` means `npm test`. */
const commandOf = (text: string): string => {
  const plain = text.trim();
  return plain.length > 2 && plain.startsWith('`') && plain.endsWith('`') ? plain.slice(1, -1).trim() : plain;
};

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** All items of the list, done ones too, in order. Code fences and HTML comments hold none. */
const itemsOf = (text: string): readonly Item[] => {
  const items: Item[] = [];
  let open: Item[] = [];
  const section: string[] = [];
  let fence: string | undefined;
  let inComment = false;

  for (const [index, raw] of plainText(text).split('\n').entries()) {
    const line = raw.replaceAll('\t', '    ');
    const addToItem = (): void => {
      if (line.trim() !== '') open = open.filter((item) => item.indent < indentOf(line));
      open.at(-1)?.lines.push(line);
    };
    const mark = fenceLine.exec(line)?.[1];
    if (fence !== undefined) {
      addToItem();
      if (mark?.startsWith(fence) === true && line.trim() === mark) fence = undefined;
      continue;
    }
    if (inComment) {
      inComment = !line.includes('-->');
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      addToItem();
      continue;
    }
    if (line.trimStart().startsWith('<!--')) {
      inComment = !line.includes('-->');
      continue;
    }
    const heading = headingLine.exec(line);
    if (heading !== null) {
      section.splice((heading[1] ?? '').length - 1);
      section[(heading[1] ?? '').length - 1] = heading[2] ?? '';
      open = [];
      continue;
    }
    const item = itemLine.exec(line);
    if (item === null) {
      addToItem();
      const check = open.length === 0 ? null : checkLine.exec(line);
      const owner = open.at(-1);
      if (check !== null && owner !== undefined) owner.check ??= commandOf(check[1] ?? '');
      continue;
    }
    const indent = (item[1] ?? '').length;
    open = open.filter((outer) => outer.indent < indent);
    const next: Item = {
      line: index + 1,
      indent,
      done: item[2] !== ' ',
      text: (item[3] ?? '').trim(),
      section: section.filter((title) => title !== undefined),
      parent: open.at(-1)?.text,
      lines: [],
      check: undefined,
    };
    items.push(next);
    open = [...open, next];
  }
  return items;
};

const bodyOf = (item: Item): string => {
  const indent = Math.min(...item.lines.filter((line) => line.trim() !== '').map(indentOf));
  const more = item.lines.map((line) => line.slice(Math.min(indent, indentOf(line)))).join('\n');
  const parts = [
    item.text,
    more.trim(),
    item.parent === undefined ? '' : `Part of: ${item.parent}`,
    item.section.length === 0 ? '' : `Section: ${item.section.join(' > ')}`,
  ];
  return cutMiddle(parts.filter((part) => part !== '').join('\n\n'), taskBodyLetters);
};

/**
 * The open items (`- [ ] text`) of a Markdown task list as tasks, in the order of the file: the first has priority 0, the next -1 ...
 * Pure. Lines that belong to an item by their indent are its body; a line `check: <command>` among them is its proof. A key is made from
 * the item's words, so that it stays when the item moves; equal items are numbered over the whole file, done ones counted.
 * @param input file as named by the loop, and its text
 */
export const taskList = (input: { readonly file: string; readonly source: string; readonly text: string }): readonly Task[] => {
  const counts = new Map<string, number>();
  return itemsOf(input.text)
    .map((item) => {
      const hash = shortHash(item.text);
      const count = (counts.get(hash) ?? 0) + 1;
      counts.set(hash, count);
      return { item, key: keyOf('task', `${input.file}:${hash}${count === 1 ? '' : ` #${count}`}`) };
    })
    .filter(({ item }) => !item.done)
    .map(({ item, key }, index) => ({
      key,
      title: oneLine(item.text),
      body: bodyOf(item),
      evidence: '',
      priority: 0 - index,
      touches: [],
      trust: 'repository',
      source: input.source,
      list: { file: input.file, line: item.line },
      proof: item.check === undefined ? { by: 'checks' } : { by: 'command', command: item.check },
    }));
};
