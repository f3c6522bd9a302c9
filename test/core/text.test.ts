import { describe, expect, test } from 'vitest';
import { normaliseFailure } from '../../src/core/fingerprint.ts';
import { addSpend, knownSpend, spendText } from '../../src/core/spend.ts';
import { cutMiddle, oneLine, plainText, slug, utf8Bytes } from '../../src/core/text.ts';
import { exitCodeOf, worstExitCode } from '../../src/core/exit.ts';
import { dedupeTasks, rankTasks, type Task } from '../../src/core/task.ts';
import { taskKey } from '../../src/core/ids.ts';
import * as fc from 'fast-check';

describe('text from outside', () => {
  test('OUT-05 control characters and terminal codes never reach a person', () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, code) => code)).toString('latin1');
    // oxlint-disable-next-line no-control-regex
    const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/;
    expect(plainText(`\u001B[31mred\u001B[0m ${bytes}\r\n\u001B]0;title\u0007end`)).not.toMatch(controls);
    expect(plainText('\u001B[1;31mred\u001B[0m')).toBe('red');
  });

  test('OUT-01 a cut never breaks a letter in two', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.integer({ min: 1, max: 60 }), (text, letters) => {
        const whole = text.toWellFormed();
        expect(cutMiddle(whole, letters).isWellFormed()).toBe(true);
        expect(oneLine(whole, letters + 1).length).toBeLessThanOrEqual(letters + 1);
      }),
    );
  });

  test('TXT-01 what is cut says how much', () => {
    expect(cutMiddle('a'.repeat(100), 10)).toContain('90 characters cut by Gyre');
    expect(cutMiddle('short', 10)).toBe('short');
  });

  test('GIT-13 a slug is a valid name of bounded length, whatever the title', () => {
    for (const title of ['x'.repeat(300), '🙂🙂', '-rf --force', 'a..b', 'x.lock', '', '   '])
      expect(slug(title)).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/);
    expect(slug('Größe ändern')).toBe('gro-e-andern');
  });

  test('L12 a text cannot turn the direction of a line it is shown in', () => {
    expect(oneLine('safe \u202Etxet\u202C \u2066x\u2069 \u001B[31mred\u001B]0;title\u0007')).toBe('safe txet x red');
    expect(plainText('שלום \u200Fעולם')).toBe('שלום \u200Fעולם');
  });

  test('TXT-02 utf8Bytes agrees with the encoder', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(utf8Bytes(text.toWellFormed())).toBe(Buffer.byteLength(text.toWellFormed()));
      }),
    );
  });
});

describe('failure fingerprints', () => {
  test('STP-03 other timings, temporary paths and line numbers are the same failure', () => {
    const one = 'Error at /tmp/gyre-1a2b/src/a.js:12:7 after 13.4ms (pid 4711)\n  expected 3, got 4\n2026-01-02T03:04:05.678Z';
    const two = 'Error at /tmp/gyre-9f8e/src/a.js:40:1 after 2 s (pid 12)\n    expected 3, got 4\n2027-11-12T13:14:15Z';
    expect(normaliseFailure(one)).toBe(normaliseFailure(two));
  });

  test('STP-03 another assertion is another failure', () => {
    expect(normaliseFailure('expected 3, got 4')).not.toBe(normaliseFailure('expected 3, got 5'));
  });
});

describe('small sums', () => {
  test('L8 one unknown part makes a sum unknown, and it is never shown as 0', () => {
    const sum = addSpend([
      { usd: 1, tokens: 10 },
      { usd: undefined, tokens: 5 },
    ]);
    expect(sum).toEqual({ usd: undefined, tokens: 15 });
    expect(spendText(sum)).toBe('unknown cost, 15 tokens');
    expect(knownSpend([{ usd: 1, tokens: undefined }, sum])).toEqual({ usd: 1, tokens: 15 });
  });

  test('EXT-02 exit codes are those of the contract', () => {
    expect(exitCodeOf({ exit: 'goal-met' })).toBe(0);
    expect(exitCodeOf({ exit: 'nothing-to-do' })).toBe(0);
    expect(exitCodeOf({ exit: 'parked', why: '' })).toBe(3);
    expect(exitCodeOf({ exit: 'stopped', by: 'time', why: '' })).toBe(4);
    expect(exitCodeOf({ exit: 'fault', code: 'X', why: '' })).toBe(5);
    expect(worstExitCode([{ exit: 'goal-met' }, { exit: 'parked', why: '' }])).toBe(3);
    expect(worstExitCode([])).toBe(0);
  });

  test('DSC-00 tasks are ranked the same way whatever order they came in, one a key', () => {
    const task = (key: string, priority: number): Task => ({
      key: taskKey(key),
      title: key,
      body: '',
      evidence: '',
      priority,
      touches: [],
      trust: 'outside',
      source: '',
      proof: { by: 'checks' },
    });
    const tasks = [task('b', 0), task('a', 0), task('c', 5), task('a', 9)];
    expect(rankTasks(dedupeTasks(tasks)).map(({ key }) => key)).toEqual(['c', 'a', 'b']);
    fc.assert(
      fc.property(fc.shuffledSubarray(tasks.slice(0, 3), { minLength: 3 }), (list) => {
        expect(rankTasks(list).map(({ key }) => key)).toEqual(['c', 'a', 'b']);
      }),
    );
  });
});
