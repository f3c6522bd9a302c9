import { expect, test } from 'vitest';
import type { Task } from '../../src/core/task.ts';
import { unnamedTest, type TestResult } from '../../src/core/test-report.ts';
import { isOpenIn } from '../../src/discover/still-open.ts';
import { observation, report } from './world.ts';

const taskOf = (id: string, file?: string): Task => ({
  key: 'test:x' as Task['key'],
  title: id,
  body: '',
  evidence: '',
  priority: 0,
  touches: [],
  trust: 'repository',
  source: 'tests: npm test',
  proof: { by: 'test', command: 'npm test', test: id, file },
});

const rows: readonly (readonly [fact: string, task: Task, tests: readonly string[], open: boolean])[] = [
  ['red', taskOf('a > x'), ['red a > x'], true],
  ['green', taskOf('a > x'), ['green a > x', 'red a > y'], false],
  ['not in the report', taskOf('a > x'), ['green a > y'], true],
  ['not among the red ones where green ones have no names', taskOf('a > x'), ['red a > y', `green ${unnamedTest}`], false],
  ['red where green ones have no names', taskOf('a > x'), ['red a > x', `green ${unnamedTest}`], true],
  ['a whole suite with its tests green', taskOf('a'), ['green a > x', 'red b > y'], false],
  ['a whole suite with one of its tests red', taskOf('a'), ['green a > x', 'red a > y'], true],
  ['a whole file with nothing of it run', taskOf('a.test.js', 'a.test.js'), ['green b > y'], true],
];

test.each(rows)('DSC-08 a task by test on a newer base: %s', (_fact, task, tests, open) => {
  expect(isOpenIn(task, observation({ report: report(...tests) }))).toBe(open);
});

test('DSC-08 a file whose tests are named by their file alone is done when they are green', () => {
  const named: TestResult = { id: 'adds', name: 'adds', file: 'a.test.js', outcome: 'passed', message: '' };
  const seen = observation({ report: { read: 'yes', format: 'tap', tests: [named] } });
  expect(isOpenIn(taskOf('a.test.js', 'a.test.js'), seen)).toBe(false);
  expect(isOpenIn(taskOf('b.test.js', 'b.test.js'), seen)).toBe(true);
});
