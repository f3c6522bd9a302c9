import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';

import { describe, expect, test } from 'vitest';

import type { ManagedProcess } from '../../src/process/index.ts';
import { agentPath } from '../testkit/agents/ledger.ts';
import { aliveWithMark, assertNoLeftovers, isRunning, waitUntil } from '../testkit/processes.ts';
import { collect, shell, shimPid, useJobs } from './jobs.ts';

const jobs = useJobs();

interface Tree {
  readonly self: number;
  readonly child: number;
  readonly grandchild: number;
}

const treeOf = (job: ManagedProcess): Promise<Tree> => {
  const out = collect(job);
  return waitUntil(() => out.text().endsWith('}\n') && (JSON.parse(out.text()) as Tree), { withinMs: 30_000 });
};

const running = (): Promise<number> => waitUntil(() => jobs.calls()[0]?.pid, { withinMs: 30_000 });

describe('ending on request', () => {
  test('PRC-05 a deaf program, its child and a grandchild in another session are all gone; a second end does nothing; a stranger lives', async () => {
    const stranger = spawn(process.execPath, [agentPath('ignores-signals')], {
      env: { GYRE_MARK: `${jobs.marker}-other`, X: `GYRE_MARK=${jobs.marker}` },
      stdio: 'ignore',
    });
    try {
      const job = await jobs.open('ignores-signals');
      const tree = await treeOf(job);
      expect(new Set(aliveWithMark(jobs.marker))).toEqual(new Set([tree.self, tree.child, tree.grandchild]));
      const asked = performance.now();
      job.end('cancelled');
      job.end('after-result');
      const result = await job.result;
      expect(performance.now() - asked).toBeLessThan(10_000);
      expect(result).toMatchObject({ end: 'cancelled', exitCode: null, signal: 'SIGKILL', problem: '' });
      expect(result.orphansKilled).toBeGreaterThanOrEqual(1);
      for (const pid of Object.values(tree).filter(Number.isInteger)) expect(isRunning(pid)).toBe(false);
      job.end('cancelled');
      expect(await job.result).toBe(result);
      expect(isRunning(stranger.pid ?? 0)).toBe(true);
    } finally {
      stranger.kill('SIGKILL');
      await once(stranger, 'exit');
      await jobs.host.sweep(`${jobs.marker}-other`);
    }
  });

  test('PROC-05 a program that listens gets the signal asked for and its grace', async () => {
    const job = await jobs.open('silent', {
      ...shell('trap "echo saved; exit 3" INT; echo ready; while :; do sleep 0.05; done'),
      askSignal: 'SIGINT',
      limits: { graceMs: 30_000 },
    });
    const out = collect(job);
    await waitUntil(() => out.text() === 'ready\n', { withinMs: 30_000 });
    job.end('after-result');
    expect(await job.result).toMatchObject({ end: 'after-result', exitCode: 3, signal: null });
    expect(out.text()).toBe('ready\nsaved\n');
  });

  test('PROC-05 a process that dropped the marker and its session is still ended, because it was seen under its parent', async () => {
    const job = await jobs.open('silent', shell('env -i setsid sh -c "echo \\$\\$; exec sleep 600" & wait'));
    const out = collect(job);
    const pid = Number(await waitUntil(() => out.text().trim() !== '' && out.text(), { withinMs: 30_000 }));
    expect(isRunning(pid)).toBe(true);
    expect(aliveWithMark(jobs.marker)).not.toContain(pid);
    job.end('cancelled');
    await job.result;
    expect(isRunning(pid)).toBe(false);
  });

  test('PROC-05 sweep ends what carries the marker and tells how many', async () => {
    const job = await jobs.open('ignores-signals');
    await treeOf(job);
    expect(await jobs.host.sweep(jobs.marker)).toBe(3);
    expect(await job.result).toMatchObject({ end: 'exited', signal: 'SIGKILL' });
    expect(await jobs.host.sweep(jobs.marker)).toBe(0);
  });

  test('PROC-05 many sweeps at once each end their own, and one that is asked for meanwhile is not forgotten', async () => {
    const job = await jobs.open('ignores-signals');
    await treeOf(job);
    const others = Array.from({ length: 50 }, (_, index) => `${jobs.marker}-${index}`);
    const none = others.map((marker) => jobs.host.sweep(marker));
    const own = [jobs.host.sweep(jobs.marker), jobs.host.sweep(jobs.marker)];
    expect(await Promise.all(own)).toEqual([3, 3]);
    expect(await Promise.all(none)).toEqual(others.map(() => 0));
    const strangers = ['x', 'y'].map((name) =>
      spawn('sleep', ['60'], { env: { PATH: process.env['PATH'], GYRE_MARK: `${jobs.marker}-${name}` } }),
    );
    const first = jobs.host.sweep(`${jobs.marker}-x`);
    expect(strangers.every((stranger) => stranger.pid !== undefined)).toBe(true);
    expect(await first).toBe(1);
    expect(await jobs.host.sweep(`${jobs.marker}-y`)).toBe(1);
    await job.result;
  });
});

describe('ending by limit', () => {
  test('PROC-06 the deadline ends a program that talks all the time', async () => {
    const job = await jobs.open('chatty', { env: { CHATTY_MS: '600000' }, limits: { deadlineMs: 1_500, idleMs: 60_000 } });
    const result = await job.result;
    expect(result.end).toBe('deadline');
    expect(result.wallMs).toBeGreaterThanOrEqual(1_500);
    expect(result.stdout.bytesSeen).toBeGreaterThan(0);
  });

  test('PROC-06 silence ends a program, output on either stream keeps it', async () => {
    const talk = 'for i in 1 2 3 4 5 6; do sleep 0.5; echo $i >&2; done; sleep 600';
    const result = await (await jobs.open('silent', { ...shell(talk), limits: { idleMs: 2_000 } })).result;
    expect(result.end).toBe('idle');
    expect(result.wallMs).toBeGreaterThanOrEqual(4_500);
    expect(await readFile(result.stderr.path, 'utf8')).toBe('1\n2\n3\n4\n5\n6\n');
  });

  test('PROC-06 time in which the whole tree was stopped does not count', async () => {
    const job = await jobs.open('silent', { limits: { idleMs: 4_000, deadlineMs: 5_000 } });
    const tree = [shimPid(job.jobDir), await running()];
    for (const pid of tree) process.kill(pid, 'SIGSTOP');
    const stopped = performance.now();
    await waitUntil(() => performance.now() - stopped > 6_000, { withinMs: 30_000 });
    for (const pid of tree) process.kill(pid, 'SIGCONT');
    const result = await job.result;
    expect(result.end).toBe('idle');
    expect(result.suspendedMs).toBeGreaterThan(5_000);
    expect(result.wallMs).toBeGreaterThan(9_500);
  });
});

describe('L13 what was started ends', () => {
  test('L13 a child that holds stdout does not keep a finished program from its result, and is ended', async () => {
    const job = await jobs.open('forks-holder');
    const result = await job.result;
    expect(result).toMatchObject({ end: 'exited', exitCode: 0, orphansKilled: 1, problem: '' });
    await assertNoLeftovers(jobs.marker);
  });

  test('L13 children that need a moment to go by themselves are given it', async () => {
    const result = await (await jobs.open('silent', shell('(sleep 0.2; echo late) & exit 0'))).result;
    expect(result).toMatchObject({ end: 'exited', exitCode: 0, orphansKilled: 0 });
    expect(await readFile(result.stdout.path, 'utf8')).toBe('late\n');
  });

  test('L15 a process that cannot be found holds nothing up, and the result says that it may still run', async () => {
    // Forked twice, no marker, another session, and its parent gone before anyone looked.
    const job = await jobs.open('silent', shell('(env -i setsid sh -c "echo \\$\\$; exec sleep 600" &) ; sleep 0.1'));
    const out = collect(job);
    const result = await job.result;
    const pid = Number(out.text());
    try {
      expect(result).toMatchObject({ end: 'exited', exitCode: 0 });
      expect(isRunning(pid)).toBe(true);
      expect(result.problem).toBe('Its output was held open by a process that could not be found; that process may still run.');
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });

  test('L13 after the result neither program nor shim is left', async () => {
    const job = await jobs.open('liar');
    await job.result;
    expect(aliveWithMark(jobs.marker)).toEqual([]);
    expect(isRunning(shimPid(job.jobDir))).toBe(false);
  });
});
