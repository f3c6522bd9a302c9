import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { identityOf, isAlive, selfIdentity } from '../../src/process/index.ts';
import { parseStat, readProc } from '../../src/process/identity.ts';
import { nextTickMs, onTick, sawOutput, startWatch, tickMs } from '../../src/process/limits.ts';
import { hasMark, parsePsLine } from '../../src/process/process-table.ts';
import type { ProcessRow } from '../../src/process/process-table.ts';
import { treeOf } from '../../src/process/sweep.ts';

const bootId = 'boot';
const row = (pid: number, parent: number, more: { group?: number; startTime?: string; marked?: boolean } = {}): ProcessRow => ({
  identity: { pid, startTime: more.startTime ?? '100', bootId },
  parent,
  group: more.group ?? pid,
  marked: more.marked ?? false,
});
const pids = (rows: readonly ProcessRow[]): readonly number[] => rows.map((one) => one.identity.pid).toSorted((a, b) => a - b);
const leader = { pid: 10, startTime: '100', bootId };

/** An environment block as the kernel shows it. */
const environ = (...entries: string[]): Buffer => Buffer.from(entries.map((entry) => `${entry}\0`).join(''));

describe('which processes belong to a tree', () => {
  test('SWP-01 marker, group, remembered ones, and the children of all these; never the process that asks', () => {
    const rows = [
      row(1, 0),
      row(10, 5),
      row(11, 1, { group: 10 }),
      row(12, 1, { marked: true }),
      row(13, 12),
      row(14, 13),
      row(15, 1, { startTime: '7' }),
      row(5, 1, { marked: true }),
      row(20, 1),
    ];
    const known = [{ pid: 15, startTime: '7', bootId }];
    expect(pids(treeOf(rows, { leader, known, self: 5 }))).toEqual([10, 11, 12, 13, 14, 15]);
  });

  test('SWP-01 a number given to another process since is not ours: neither group nor memory', () => {
    const rows = [row(10, 1, { startTime: '999' }), row(11, 10, { group: 10 }), row(15, 1, { startTime: '8' })];
    expect(treeOf(rows, { leader, known: [{ pid: 15, startTime: '7', bootId }], self: 0 })).toEqual([]);
  });

  test('SWP-02 the mark is one whole entry of the environment', () => {
    expect(hasMark(environ('A=1', 'GYRE_MARK=m1'), 'm1')).toBe(true);
    expect(hasMark(Buffer.from('GYRE_MARK=m1'), 'm1')).toBe(true);
    expect(hasMark(environ('GYRE_MARK=m12', 'GYRE_MARK=m1'), 'm1')).toBe(true);
    expect(hasMark(environ('GYRE_MARK=m12'), 'm1')).toBe(false);
    expect(hasMark(environ('X=GYRE_MARK=m1', 'OLD_GYRE_MARK=m1'), 'm1')).toBe(false);
    expect(hasMark(Buffer.alloc(0), 'm1')).toBe(false);
  });

  test('SWP-03 a line of ps is read with its start time and its environment', () => {
    const line = '  501   1   501 Ss   Mon Nov  2 09:15:01 2026 /bin/sleep 60 PATH=/bin GYRE_MARK=m1 HOME=/x';
    expect(parsePsLine(line, { marker: 'm1', bootId })).toEqual({
      identity: { pid: 501, startTime: 'Mon Nov  2 09:15:01 2026', bootId },
      parent: 1,
      group: 501,
      marked: true,
    });
    expect(parsePsLine(line, { marker: 'm', bootId })?.marked).toBe(false);
    expect(parsePsLine(line.replace('Ss', 'Z '), { marker: 'm1', bootId })).toBeUndefined();
    expect(parsePsLine('', { marker: 'm1', bootId })).toBeUndefined();
  });
});

describe('identity', () => {
  test('IDN-01 a stat line is read although the name holds blanks and brackets', () => {
    const fields = Array.from({ length: 49 }, (_, index) => String(index + 4));
    expect(parseStat(`42 (a ) b (c) S ${fields.join(' ')}`)).toEqual({
      pid: 42,
      state: 'S',
      parent: 4,
      group: 5,
      threads: 20,
      startTime: '22',
    });
    expect(parseStat('')).toBeUndefined();
  });

  test('IDN-02 L7 a list of the kernel is read to its end: one that was cut would end in the number of a stranger', () => {
    const dir = mkdtempSync(path.join(os.tmpdir(), 'gyre-proc-'));
    for (const bytes of [0, 100, 16_383, 16_384, 16_385, 50_000]) {
      const text = '12345 '.repeat(bytes).slice(0, bytes);
      writeFileSync(path.join(dir, 'list'), text);
      expect(readProc(path.join(dir, 'list'))).toBe(text);
    }
    expect(readProc(path.join(dir, 'missing'))).toBeUndefined();
    rmSync(dir, { recursive: true });
    // A file that the kernel gives in pieces of a page.
    if (existsSync('/proc/kallsyms')) expect(readProc('/proc/kallsyms')).toBe(readFileSync('/proc/kallsyms', 'latin1'));
  });

  test('IDN-01 this process is alive; another start time, another boot or no process is not', () => {
    const self = selfIdentity();
    expect(identityOf(process.pid)).toEqual(self);
    expect(isAlive(self)).toBe(true);
    expect(isAlive({ ...self, startTime: '1' })).toBe(false);
    expect(isAlive({ ...self, bootId: 'another' })).toBe(false);
    expect(identityOf(2 ** 30)).toBeUndefined();
  });
});

/** The times of punctual ticks, `from` excluded. */
const every = (from: number, to: number): number[] =>
  Array.from({ length: (to - from) / tickMs }, (_, index) => from + (index + 1) * tickMs);

describe('limits', () => {
  const limits = { deadlineMs: 10_000, idleMs: 5_000 };
  const run = (ticks: readonly number[], options: { readonly outputAt?: readonly number[]; readonly sleptMs?: number } = {}) => {
    let watch = startWatch(0);
    for (const now of ticks) {
      if (options.outputAt?.includes(now) === true) watch = sawOutput(watch, now);
      const seen = onTick(watch, { now, sleptMs: options.sleptMs ?? 0, load: 0, whenOwnerDies: 'end', limits });
      watch = seen.watch;
      if (seen.over !== undefined) return { over: seen.over, at: now, watch };
    }
    return { over: undefined, at: undefined, watch };
  };

  test('LIM-01 silence, output and deadline', () => {
    expect(run(every(0, 20_000))).toMatchObject({ over: 'idle', at: 5_000 });
    expect(run(every(0, 20_000), { outputAt: [4_000, 8_000] })).toMatchObject({ over: 'deadline', at: 10_000 });
  });

  test('LIM-02 a late tick moves both limits by the gap', () => {
    const ticks = [...every(0, 2_000), ...every(62_000, 90_000)];
    expect(run(ticks)).toMatchObject({ over: 'idle', watch: { suspendedMs: 60_000 } });
    expect(run(ticks).at).toBe(65_000);
    expect(run(ticks, { outputAt: [62_200, 66_000] })).toMatchObject({ over: 'deadline', at: 70_000 });
  });

  test('LIM-02 a tick that is a little late moves nothing; sleep that the clock did not see is counted only', () => {
    expect(run([...every(0, 2_000), ...every(4_000, 20_000)])).toMatchObject({ over: 'idle', at: 5_000, watch: { suspendedMs: 0 } });
    expect(run([200], { sleptMs: 3_600_000 }).watch).toMatchObject({ suspendedMs: 3_600_000, stoppedMs: 0 });
    expect(run([200], { sleptMs: 900 }).watch.suspendedMs).toBe(0);
  });

  test('LIM-03 looks come seldom where the machine has more work than processors, and never later than a limit', () => {
    const rests = (whenOwnerDies: 'end' | 'outlive') =>
      [0, 60_000].flatMap((ran) => [0, 4, 20, 99].map((load) => nextTickMs(ran, load, whenOwnerDies)));
    expect(rests('end')).toEqual([200, 200, 200, 200, 1_000, 2_000, 5_000, 5_000]);
    expect(rests('outlive')).toEqual([200, 200, 200, 200, 1_000, 2_000, 10_000, 30_000]);
    const busy = { sleptMs: 0, load: 99, whenOwnerDies: 'outlive' } as const;
    const at = (now: number, watch: Partial<ReturnType<typeof startWatch>>, idleMs?: number) =>
      onTick({ ...startWatch(0), nextTickAt: now, ...watch }, { now, ...busy, limits: { deadlineMs: 50_000, idleMs } }).watch.nextTickAt;
    expect(at(12_000, {})).toBe(42_000);
    expect(at(42_000, {})).toBe(50_000);
    expect(at(49_990, {})).toBe(50_190);
    expect(at(42_000, { stoppedMs: 5_000 })).toBe(55_000);
    expect(at(42_000, { lastOutputAt: 41_000 }, 3_000)).toBe(44_000);
    // A tick that comes when it was due is no gap, however long it was put off.
    const first = onTick(startWatch(0), { now: 200, sleptMs: 0, load: 0, whenOwnerDies: 'end', limits });
    const late = onTick(
      { ...first.watch, lastOutputAt: 20_000, nextTickAt: 25_000 },
      { now: 25_000, sleptMs: 0, load: 99, whenOwnerDies: 'end', limits },
    );
    expect(late).toMatchObject({ over: 'deadline', watch: { stoppedMs: 0 } });
  });

  test('LIM-03 no limit, no end', () => {
    const seen = onTick(
      { ...startWatch(0), nextTickAt: 1e9 },
      { now: 1e9, sleptMs: 0, load: 0, whenOwnerDies: 'end', limits: { deadlineMs: undefined, idleMs: undefined } },
    );
    expect(seen.over).toBeUndefined();
  });
});
