import { randomUUID } from 'node:crypto';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { identityOf } from '../../src/process/identity.ts';
import { readNear } from '../../src/process/near-table.ts';
import { readTable } from '../../src/process/process-table.ts';
import { treeOf } from '../../src/process/sweep.ts';
import { remove, temporaryFolder } from '../testkit/repositories.ts';
import { aliveWithMark, isRunning, waitUntil } from '../testkit/processes.ts';

/** A program that leaves what its line of shell starts, and is over. */
const play = async (
  line: string,
  use: (program: {
    readonly marker: string;
    readonly near: (marker?: string) => readonly number[];
    readonly whole: () => readonly number[];
  }) => unknown,
  env: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const marker = `near-${randomUUID()}`;
  const older = spawn('sleep', ['60'], { stdio: 'ignore' });
  const program = spawn('sh', ['-c', `${line}\nread -r _`], {
    env: { PATH: process.env['PATH'], GYRE_MARK: marker, ...env },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  try {
    const leader = identityOf(program.pid ?? 0);
    if (leader === undefined) throw new Error('The program did not start.');
    program.stdin.end('\n');
    await once(program, 'exit');
    const query = { leader, known: [], self: process.pid };
    await use({
      marker,
      near: (other = marker) => treeOf(readNear({ ...query, marker: other }) ?? [], query).map(({ identity }) => identity.pid),
      whole: () => treeOf(readTable(marker), query).map(({ identity }) => identity.pid),
    });
    const rows = readNear({ ...query, marker })?.map(({ identity }) => identity.pid);
    expect(rows).toBeDefined();
    expect(rows).not.toContain(older.pid);
    expect(rows).not.toContain(process.ppid);
  } finally {
    older.kill('SIGKILL');
    for (const pid of aliveWithMark(marker)) process.kill(pid, 'SIGKILL');
    await waitUntil(() => aliveWithMark(marker).length === 0, { withinMs: 10_000 });
  }
};

const sorted = (pids: readonly number[]): readonly number[] => pids.toSorted((a, b) => a - b);

test('PRC-05 what a program left is found by walking as by reading the whole table: in its group, in sessions of their own, children of orphans', async () => {
  await play(
    'sleep 60 &\nsetsid sleep 60 &\nsetsid sh -c "sleep 60; :" &\n(setsid sh -c "setsid sleep 60 & sleep 60; :" &)\nsleep 0.3',
    ({ near, whole }) => {
      expect(whole().length).toBeGreaterThanOrEqual(6);
      expect(sorted(near())).toEqual(sorted(whole()));
      for (const pid of near()) expect(isRunning(pid)).toBe(true);
    },
  );
});

test('PRC-05 an orphan that dropped the marker is walked through: its child that has the marker again is found', async () => {
  await play('mark=$GYRE_MARK\n(env -u GYRE_MARK setsid sh -c "GYRE_MARK=$mark sleep 60; :" &)\nsleep 0.3', ({ near, whole }) => {
    expect(whole()).toHaveLength(1);
    expect(near()).toEqual(whole());
  });
});

test('PRC-05 a shim that hangs beside is left out with all below it, unless it carries the marker', async () => {
  const line = '(setsid sh -c "sleep 60; :" &)\nsleep 0.3';
  await play(
    line,
    ({ near, whole, marker }) => {
      expect(near('another')).toEqual([]);
      expect(sorted(near(marker))).toEqual(sorted(whole()));
      expect(whole()).toHaveLength(2);
    },
    { GYRE_SHIM_LAUNCH: 'x' },
  );
});

// Becomes what takes in orphans, then the program that is named, as a wrapper does that replaces itself.
const wrapper = 'import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])';

test('PRC-05 an engine knows whether it takes in orphans: as a rule not, under a wrapper that does and replaced itself by it yes', () => {
  const ask = `import(${JSON.stringify(new URL('../../src/process/reaper.ts', import.meta.url).href)}).then(async ({ takesInOrphans }) => console.log(await takesInOrphans()))`;
  const node = ['--no-warnings', '-e', ask];
  expect(execFileSync(process.execPath, node, { encoding: 'utf8' })).toBe('false\n');
  expect(execFileSync('python3', ['-c', wrapper, process.execPath, ...node], { encoding: 'utf8' })).toBe('true\n');
});

test('PRC-05 what a program leaves hangs at such an engine, and is ended there', () => {
  const marker = `near-${randomUUID()}`;
  const dir = temporaryFolder('reaper');
  const spec = {
    command: '/bin/sh',
    args: ['-c', '(setsid sh -c "sleep 60; :" &)\nsleep 0.3'],
    cwd: dir,
    env: { PATH: process.env['PATH'] },
    stdin: { kind: 'none' },
    limits: { deadlineMs: 60_000, idleMs: 60_000, graceMs: 1_000, outputBytes: 1_000 },
    marker,
    whenOwnerDies: 'end',
    askSignal: 'SIGTERM',
  };
  const engine = `
    import { createProcessHost, sourceShim } from ${JSON.stringify(new URL('../../src/process/host.ts', import.meta.url).href)};
    const host = createProcessHost({ shim: sourceShim });
    const job = await host.open(${JSON.stringify(path.join(dir, 'job'))}, ${JSON.stringify(spec)});
    const { orphansKilled, problem } = await job.result;
    console.log(JSON.stringify({ orphansKilled, problem }));`;
  const node = ['--no-warnings', '--input-type=module', '--eval', engine];
  const said = execFileSync('python3', ['-c', wrapper, process.execPath, ...node], { encoding: 'utf8' });
  expect(JSON.parse(said)).toEqual({ orphansKilled: 2, problem: '' });
  expect(aliveWithMark(marker)).toEqual([]);
  remove(dir);
});

test('PRC-05 when nothing is left, nothing is found, and a stranger that began meanwhile is no member', async () => {
  await play('(env -u GYRE_MARK setsid sleep 60 &)\nsleep 0.3', ({ near, whole }) => {
    const stranger = readFileSync('/proc/1/task/1/children', 'latin1')
      .trim()
      .split(' ')
      .map(Number)
      .find((pid) => {
        try {
          return (
            readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('sleep\0') &&
            !readFileSync(`/proc/${pid}/environ`, 'latin1').includes('GYRE_MARK=')
          );
        } catch {
          return false;
        }
      });
    expect(near()).toEqual([]);
    expect(whole()).toEqual([]);
    if (stranger !== undefined) process.kill(stranger, 'SIGKILL');
  });
});
