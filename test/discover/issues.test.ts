import { expect, test } from 'vitest';
import type { Issue, IssueTracker } from '../../src/connect/index.ts';
import type { DiscoverEntry } from '../../src/core/loop-definition.ts';
import { Fault } from '../../src/core/fault.ts';
import { createDiscoverer } from '../../src/discover/index.ts';
import { partsOf, requestOf } from './world.ts';

const entry: DiscoverEntry = { from: 'issues', labels: ['agent'], assignee: undefined };

const issue = (number: number, part: Partial<Issue> = {}): Issue => ({
  number,
  title: `Title ${number}`,
  body: `Body ${number}`,
  state: 'open',
  url: `https://forge.invalid/${number}`,
  labels: ['agent'],
  assignees: [],
  ...part,
});

const discovererOf = (tracker: Partial<IssueTracker>) =>
  createDiscoverer(
    partsOf({
      issues: () =>
        Promise.resolve({
          repository: 'Acme/Seed',
          openIssues: () => Promise.reject(new Error('not expected')),
          issue: () => Promise.reject(new Error('not expected')),
          ...tracker,
        }),
    }),
  );

test('DSP-03 issues become tasks, the oldest first, with what was left out as a problem', async () => {
  const discoverer = discovererOf({
    openIssues: ({ labels }) => Promise.resolve({ issues: [issue(3), issue(20)], problems: [`cut at ${labels.join()}`] }),
  });
  const { tasks, problems } = await discoverer.discover(requestOf([entry]));
  expect(tasks.map(({ key, claim, title, priority }) => [key, claim, title, priority])).toEqual([
    ['issue:acme/seed#3', 'github:acme/seed#3', '#3 Title 3', 0],
    ['issue:acme/seed#20', 'github:acme/seed#20', '#20 Title 20', -1],
  ]);
  expect(tasks[0]).toMatchObject({ trust: 'outside', proof: { by: 'checks' }, source: 'issues: agent', body: 'Title 3\n\nBody 3' });
  expect(problems).toEqual(['issues: agent: cut at agent']);
});

test('L12 the text of an issue is bounded, and turns no line of a terminal or a prompt', async () => {
  const long = issue(1, { title: `a\u001B[31m\nb${'c'.repeat(300)}`, body: `\u202Ex\r\n${'y'.repeat(400_000)}` });
  const { tasks } = await discovererOf({ openIssues: () => Promise.resolve({ issues: [long], problems: [] }) }).discover(
    requestOf([entry]),
  );
  expect(tasks[0]?.title).toMatch(/^#1 a bc+…$/);
  expect(tasks[0]?.title.length).toBeLessThanOrEqual(120);
  expect(tasks[0]?.body.length).toBeLessThan(351_000);
  for (const letter of ['\u001B', '\u202E', '\r']) expect(tasks[0]?.body).not.toContain(letter);
});

test('L2 issues that could not be read are a problem, never an empty list', async () => {
  const fault = new Fault('FORGE_UNREACHABLE', 'Nobody is there.', { hint: 'Look.' });
  const { tasks, problems } = await discovererOf({ openIssues: () => Promise.reject(fault) }).discover(requestOf([entry]));
  expect([tasks, problems]).toEqual([[], ['issues: agent: Nobody is there. Look.']]);
});

test('DSP-05 whether an issue is still open is asked where it is tracked', async () => {
  const found = issue(3);
  const seen = async (now: Issue | undefined) => {
    const discoverer = discovererOf({
      openIssues: () => Promise.resolve({ issues: [found], problems: [] }),
      issue: (number) => Promise.resolve(number === 3 ? now : issue(number)),
    });
    const [task] = (await discoverer.discover(requestOf([entry]))).tasks;
    if (task === undefined) throw new Error('no task');
    return discoverer.stillOpen({ ...requestOf([entry]), task });
  };
  expect(await seen(found)).toEqual({ open: true });
  expect(await seen(issue(3, { state: 'closed' }))).toEqual({ open: false, why: 'closed elsewhere' });
  expect(await seen(undefined)).toEqual({ open: false, why: 'deleted or moved elsewhere' });
});
