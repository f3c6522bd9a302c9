import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRotatingLog } from '../../src/server/index.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'gyre-log é '));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const clock = (): number => Date.UTC(2026, 0, 2, 3, 4, 5);

test('SRV-04 the log never grows beyond its bound, and the newest lines are those that are kept', () => {
  const file = path.join(root, 'logs', 'engine.log');
  const log = createRotatingLog({ file, maxBytes: 1_000, keep: 2, clock });
  for (let line = 1; line <= 200; line += 1) log.write(`line ${line}`);
  const names = [file, `${file}.1`, `${file}.2`];
  for (const name of names) expect(statSync(name).size).toBeLessThanOrEqual(1_000);
  expect(existsSync(`${file}.3`)).toBe(false);
  const kept = names.toReversed().flatMap((name) => readFileSync(name, 'utf8').trimEnd().split('\n'));
  expect(kept.at(-1)).toBe('2026-01-02T03:04:05.000Z line 200');
  expect(kept.map((text) => Number(text.split(' ').at(-1)))).toEqual(
    Array.from({ length: kept.length }, (_, at) => 201 - kept.length + at),
  );
});

test('SRV-05 a line is one line, and cannot colour a terminal', () => {
  const file = path.join(root, 'engine.log');
  createRotatingLog({ file, maxBytes: 1_000, keep: 1, clock }).write('a\nb\u001B[31mred');
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(2);
  expect(readFileSync(file, 'utf8')).not.toContain('\u001B');
});

test('SRV-06 a log that cannot be written ends nothing, and says later what is missing', () => {
  const file = path.join(root, 'engine.log');
  const log = createRotatingLog({ file, maxBytes: 100_000, keep: 1, clock });
  mkdirSync(file);
  log.write('first');
  log.write('second');
  expect(log.lost).toBe(2);
  rmSync(file, { recursive: true });
  log.write('third');
  expect(readFileSync(file, 'utf8')).toMatch(/ 2 lines before this one could not be written\.\n.* third\n$/);
});
