import type { Command } from 'commander';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** Commands that do something, by the words a person types. */
const leaves = (command: Command, name = 'gyre'): readonly (readonly [string, Command])[] =>
  command.commands.length === 0 ? [[name, command]] : command.commands.flatMap((child) => leaves(child, `${name} ${child.name()}`));

const program = buildProgram();
const commands = new Map(leaves(program));

const longNames = (command: Command): string[] => command.options.map((option) => option.long ?? '').toSorted();

/** Options the first column of each table names, by the words of the heading above it. */
const documented = (): Map<string, string[]> => {
  const found = new Map<string, string[]>();
  for (const section of read('docs/reference/commands.md').split(/^## /m).slice(1)) {
    const heading = section.slice(0, section.indexOf('\n')).replace(/ [[<].*$/, '');
    const rows = section.split('\n').filter((line) => line.startsWith('| `'));
    found.set(heading, rows.flatMap((row) => row.split('|')[1]?.match(/--[a-z-]+/g) ?? []).toSorted());
  }
  return found;
};

test('CLI-40 the reference names every command and option there is, and none that is not', () => {
  const there = new Map([...commands].map(([name, command]) => [name, longNames(command)]));
  there.set('gyre', ['--help', ...longNames(program)].toSorted());
  expect(Object.fromEntries(documented())).toEqual(Object.fromEntries(there));
});

test('CLI-41 every `gyre` command line of the documents exists with its options', () => {
  const pages = ['README.md', ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((file) => `docs/${file}`)];
  const wrong: string[] = [];
  let seen = 0;
  for (const page of pages.filter((file) => file.endsWith('.md')))
    for (const [, text = ''] of read(page).matchAll(/(?:^|`)(gyre [a-z][^`#|\n]*)/gm)) {
      const words = text.trim().split(/\s+/);
      const name = [words.slice(0, 3).join(' '), words.slice(0, 2).join(' ')].find((one) => commands.has(one));
      // `gyre journal` alone stands for its two commands.
      if (name === undefined) {
        if (text.trim() !== 'gyre journal') wrong.push(`${page}: ${text.trim()}`);
        continue;
      }
      seen += 1;
      const known = commands.get(name)?.options.flatMap((option) => [option.long, option.short]) ?? [];
      // What stands in quotes belongs to another program.
      for (const option of text.replaceAll(/"[^"]*"/g, '').match(/(?<=\s)--?[a-z][a-z-]*/g) ?? [])
        if (!known.includes(option) && option !== '--help') wrong.push(`${page}: ${text.trim()}: ${option}`);
    }
  expect(wrong).toEqual([]);
  expect(seen).toBeGreaterThan(15);
});
