// A small ProcessHost over real processes: a detached `sh` runs the program and leaves pid, output and exit code in the job folder.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ManagedProcess, ProcessEnd, ProcessHost, ProcessResult, ProcessSpec } from '../../src/process/index.ts';

const script = `
echo $$ > "$JOB/pid.tmp" && mv "$JOB/pid.tmp" "$JOB/pid"
"$@" > "$JOB/out" 2> "$JOB/err"
echo $? > "$JOB/code.tmp" && mv "$JOB/code.tmp" "$JOB/code"
`;

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '');

const isAlive = (pid: number): boolean => {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat !== '' && !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
};

const stateOf = (jobDir: string): 'absent' | 'running' | 'ended' | 'lost' => {
  if (existsSync(path.join(jobDir, 'code'))) return 'ended';
  const pid = Number(textOf(path.join(jobDir, 'pid')));
  if (pid > 0 && isAlive(pid)) return 'running';
  // The code may have been written between the two looks.
  if (existsSync(path.join(jobDir, 'code')) || existsSync(path.join(jobDir, 'ended-by'))) return 'ended';
  return existsSync(path.join(jobDir, 'started')) ? 'lost' : 'absent';
};

const resultOf = (jobDir: string, end: ProcessEnd): ProcessResult => {
  const stream = (name: string) => {
    const file = path.join(jobDir, name);
    const bytes = existsSync(file) ? readFileSync(file).length : 0;
    return { path: file, bytesSeen: bytes, bytesKept: bytes, cut: false };
  };
  const code = textOf(path.join(jobDir, 'code'));
  const times = { startedAt: 0, endedAt: 0, wallMs: 0, suspendedMs: 0 };
  return {
    ...times,
    end,
    exitCode: code === '' ? null : Number(code),
    signal: null,
    orphansKilled: 0,
    problem: '',
    stdout: stream('out'),
    stderr: stream('err'),
  };
};

export interface TestProcessHost extends ProcessHost {
  /** Job folders in which a process was started, in order. */
  readonly started: readonly string[];
}

const manage = (jobDir: string, wasAdopted: boolean): ManagedProcess => {
  const listeners: { bytes(chunk: Uint8Array): void }[] = [];
  const waitForEnd = async (): Promise<ProcessResult> => {
    // The taker of the process adds its listeners first.
    await delay(0);
    while (stateOf(jobDir) === 'running') await delay(15);
    const output = path.join(jobDir, 'out');
    if (existsSync(output)) for (const listener of listeners) listener.bytes(readFileSync(output));
    const endedBy = textOf(path.join(jobDir, 'ended-by')) as ProcessEnd | '';
    if (endedBy !== '') return resultOf(jobDir, endedBy);
    return resultOf(jobDir, stateOf(jobDir) === 'lost' ? 'lost' : 'exited');
  };
  return {
    jobDir,
    wasAdopted,
    result: waitForEnd(),
    onStdout: (listener) => void listeners.push(listener),
    end: (reason) => {
      if (stateOf(jobDir) !== 'running' || existsSync(path.join(jobDir, 'ended-by'))) return;
      writeFileSync(path.join(jobDir, 'ended-by'), reason);
      process.kill(-Number(textOf(path.join(jobDir, 'pid'))), 'SIGKILL');
    },
  };
};

export const createTestProcessHost = (): TestProcessHost => {
  const started: string[] = [];

  return {
    started,
    inspect: (jobDir) => Promise.resolve(stateOf(jobDir)),
    sweep: () => Promise.resolve(0),
    revoke: () => Promise.resolve('claimed'),
    open: async (jobDir, spec) => {
      if (stateOf(jobDir) !== 'absent') return manage(jobDir, true);
      mkdirSync(jobDir, { recursive: true });
      writeFileSync(path.join(jobDir, 'started'), '');
      started.push(jobDir);
      const child = spawn('sh', ['-c', script, 'sh', spec.command, ...spec.args], {
        cwd: spec.cwd,
        detached: true,
        stdio: 'ignore',
        env: { ...spec.env, JOB: jobDir },
      });
      child.unref();
      while (!existsSync(path.join(jobDir, 'pid'))) await delay(5);
      return manage(jobDir, false);
    },
  };
};

export const shellSpec = (line: string, cwd: string): ProcessSpec => ({
  command: 'sh',
  args: ['-c', line],
  cwd,
  env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', SECRET_TOKEN: 'hunter2-secret' },
  stdin: { kind: 'none' },
  limits: { deadlineMs: undefined, idleMs: undefined, graceMs: 1_000, outputBytes: 1_000_000 },
  marker: 'test-marker',
  whenOwnerDies: 'outlive',
  askSignal: 'SIGTERM',
});
