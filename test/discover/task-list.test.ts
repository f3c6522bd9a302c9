import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { commitSha } from '../../src/core/ids.ts';
import type { Task } from '../../src/core/task.ts';
import { createDiscoverer } from '../../src/discover/index.ts';
import { fileInCommit, git, partsOf, requestOf, temporaryFolder } from './world.ts';

const entry = { from: 'tasks', file: 'TODO.md' } as const;

const tasksOf = async (text: string): Promise<readonly Task[]> =>
  (await createDiscoverer(partsOf({ readFile: () => Promise.resolve(text) })).discover(requestOf([entry]))).tasks;

test('DSC-10 every open item is a task, in the order of the file, with its section and its own lines', async () => {
  const tasks = await tasksOf(`# Plan
## Sums
- [x] done already
- [ ] Add a multiply function
  It takes two numbers.

  - plain bullet of the item
  check: \`node check.js multiply\`
* [ ] Nested work
  1. [ ] First *part*
     with details
## Other
1. [ ] Numbered
text that belongs to no item
- [ ]    
+ [X] done too
`);
  expect(tasks.map(({ title, priority }) => [title, priority])).toEqual([
    ['Add a multiply function', 0],
    ['Nested work', -1],
    ['First *part*', -2],
    ['Numbered', -3],
  ]);
  expect(tasks[0]).toMatchObject({
    body: 'Add a multiply function\n\nIt takes two numbers.\n\n- plain bullet of the item\ncheck: `node check.js multiply`\n\nSection: Plan > Sums',
    proof: { by: 'command', command: 'node check.js multiply' },
    trust: 'repository',
    source: 'tasks: TODO.md',
  });
  expect(tasks[2]).toMatchObject({
    body: 'First *part*\n\nwith details\n\nPart of: Nested work\n\nSection: Plan > Sums',
    proof: { by: 'checks' },
  });
  expect(tasks[3]?.body).toBe('Numbered\n\nSection: Plan > Other');
});

test('DSC-11 code fences and comments hold no items', async () => {
  const tasks = await tasksOf(`- [ ] real
  \`\`\`sh
  - [ ] in the item's fence
  check: rm -rf /
  \`\`\`
~~~~
- [ ] in a fence
~~~
- [ ] still in it
~~~~
<!-- - [ ] in a comment
- [ ] and on its second line -->
- [ ] real too
`);
  expect(tasks.map((task) => task.title)).toEqual(['real', 'real too']);
  expect(tasks[0]?.body).toContain("- [ ] in the item's fence");
  expect(tasks[0]?.proof).toEqual({ by: 'checks' });
});

test('DSC-12 keys stay when items move or others are ticked off; equal items are numbered', async () => {
  const before = await tasksOf('- [ ] one\n- [ ] two\n- [ ] one\n');
  const after = await tasksOf('# New\r\n\r\n- [ ] two\r\n\r\n- [x] one\r\n- [ ]  one\r\n');
  const keys = before.map((task) => task.key);
  expect(new Set(keys).size).toBe(3);
  expect(keys[2]).toBe(`${keys[0]} #2`);
  expect(after.map((task) => task.key)).toEqual([keys[1], keys[2]]);
});

test('L15 a list that is not in the commit is a problem, not an empty list', async () => {
  const found = await createDiscoverer(partsOf({ readFile: () => Promise.resolve(undefined) })).discover(requestOf([entry]));
  expect(found).toEqual({
    tasks: [],
    setAside: [],
    problems: ['tasks: TODO.md: the file does not exist in commit aaaaaaaaaaaa. Commit it, or correct its path.'],
    unread: ['tasks: TODO.md'],
  });
});

test('CLM-07 boxes an agent ticks and items it deletes stay open, because the list is read from the base commit', async () => {
  await using temporary = await temporaryFolder();
  const { dir } = temporary;
  await git(dir, 'init', '-q');
  await writeFile(path.join(dir, 'TODO.md'), '- [ ] one\n- [ ] two\n- [ ] three\n');
  await git(dir, 'add', '.');
  await git(dir, 'commit', '-qm', 'plan');
  const base = commitSha((await git(dir, 'rev-parse', 'HEAD')).trim());
  await writeFile(path.join(dir, 'TODO.md'), '- [x] one\n- [x] two\n');
  const discover = async (): Promise<readonly string[]> => {
    const discovery = await createDiscoverer(partsOf({ readFile: fileInCommit(dir) })).discover(requestOf([entry], { base }));
    return discovery.tasks.map((task) => task.title);
  };
  expect(await discover()).toEqual(['one', 'two', 'three']);
  await git(dir, 'commit', '-qam', 'all done, says the agent');
  expect(await discover()).toEqual(['one', 'two', 'three']);
});

test('DSC-13 the list of a folder is read from that folder', async () => {
  const read: string[] = [];
  const readFile = (_: unknown, file: string): Promise<string> => {
    read.push(file);
    return Promise.resolve('- [ ] one');
  };
  await createDiscoverer(partsOf({ readFile })).discover(requestOf([entry], { prefix: 'packages/é a' }));
  expect(read).toEqual(['packages/é a/TODO.md']);
});

test('DSC-14 a very long list is read in time and cut with a note', { timeout: 60_000 }, async () => {
  const text = ['x', ...Array.from({ length: 5_000 }, (_, n) => n)].map((name) => `- [ ] item ${name}`).join('\n');
  const found = await createDiscoverer(partsOf({ readFile: () => Promise.resolve(text) })).discover(requestOf([entry]));
  expect(found.tasks).toHaveLength(1_000);
  expect(found.tasks[0]?.title).toBe('item x');
  expect(found.problems).toEqual(['5001 tasks were found and the first 1000 are looked at. The others come when these are done.']);
});
