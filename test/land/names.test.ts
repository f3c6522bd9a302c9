import { array, assert, constantFrom, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { branchName } from '../../src/land/branch-name.ts';
import { landingMessage } from '../../src/land/landing-message.ts';
import { evidenceHash, runId, taskKey } from '../../src/core/ids.ts';

const nameOf = (title: string, taken: readonly string[] = [], loop = 'fix'): string => branchName({ loop, title, taken });

test('GIT-13 seven awkward titles give seven valid, short, different names', () => {
  const titles = ['x'.repeat(300), '🎉🚀', '-rf --force', 'a..b', 'x.lock', 'Same Title', 'same title'];
  const taken: string[] = [];
  for (const title of titles) taken.push(nameOf(title, taken));
  expect(taken.slice(1)).toEqual([
    'gyre/fix/task',
    'gyre/fix/rf-force',
    'gyre/fix/a-b',
    'gyre/fix/x-lock',
    'gyre/fix/same-title',
    'gyre/fix/same-title-2',
  ]);
  expect(new Set(taken.map((name) => name.toLowerCase())).size).toBe(7);
});

test('GIT-05 a name is never one that is taken in another case, nor a folder of one, nor inside of one', () => {
  expect(nameOf('a', ['Gyre/Fix/A'])).toBe('gyre/fix/a-2');
  expect(nameOf('a', ['gyre/fix/a/deeper'])).toBe('gyre/fix/a-2');
  expect(nameOf('a', ['gyre/fix'])).toBe('gyre/fix-a');
  expect(nameOf('a', ['gyre'])).toBe('gyre-fix-a');
  expect(nameOf('a', ['GYRE', 'gyre-fix-a'])).toBe('gyre-fix-a-2');
});

test('GIT-13 whatever the title, the name is valid, at most 100 bytes and free', () => {
  assert(
    property(
      string({ unit: 'binary' }),
      string({ unit: 'binary' }),
      array(constantFrom('gyre', 'gyre/fix', 'gyre/task', 'gyre/task/task', 'GYRE/a/b')),
      (loop, title, taken) => {
        const first = nameOf(title, taken, loop);
        const second = nameOf(title, [...taken, first], loop);
        for (const name of [first, second]) {
          expect(name).toMatch(/^gyre[/-][a-z0-9][a-z0-9/-]*$/);
          expect(name).not.toMatch(/\/\/|\/$|\/-|\.\.|@\{/);
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(100);
          for (const other of taken.map((one) => one.toLowerCase())) {
            expect(name === other || name.startsWith(`${other}/`) || other.startsWith(`${name}/`)).toBe(false);
          }
        }
        expect(second).not.toBe(first);
      },
    ),
  );
});

test('LND-01 the subject fits 72 letters, the title is kept in full below, the trailers stand last', () => {
  const facts = { loop: 'fix', taskKey: taskKey('test:x'), run: runId('r1'), evidence: evidenceHash('e'.repeat(64)) };
  const short = landingMessage({ ...facts, taskTitle: 'Sum\nadds' });
  expect(short).toBe(`gyre(fix): Sum adds\n\nTask: test:x\n\nGyre-Run: r1\nGyre-Loop: fix\nGyre-Evidence: ${'e'.repeat(64)}\n`);
  const long = landingMessage({ ...facts, taskTitle: 'word '.repeat(60) }).split('\n');
  expect(long[0]?.length).toBeLessThanOrEqual(72);
  expect(long[2]).toBe('word '.repeat(60).trim());
  expect(landingMessage({ ...facts, taskTitle: '' })).toMatch(/^gyre\(fix\): test:x\n/);
});
