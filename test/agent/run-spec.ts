// A small host for these tests alone: it runs a ProcessSpec as a child of the test and gives back a ProcessResult, so that the adapters
// are tried with real processes. It is not detached and does not outlive anything.
import { spawn } from 'node:child_process';
import { closeSync, createWriteStream, openSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import type { AgentAdapter, AgentReader, AgentRequest } from '../../src/agent/index.ts';
import type { AgentRunResult } from '../../src/core/agent-result.ts';
import type { ProcessEnd, ProcessResult, ProcessSpec, StreamFile } from '../../src/process/index.ts';

const ended = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
};

/** Process numbers that carry the marker in their environment. */
export const carriers = async (marker: string): Promise<readonly number[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found: number[] = [];
  for (const pid of pids) {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    if (environment.split('\0').includes(`GYRE_MARK=${marker}`)) found.push(pid);
  }
  return found;
};

const streamFile = async (file: string): Promise<StreamFile> => {
  const { size } = await stat(file);
  return { path: file, bytesSeen: size, bytesKept: size, cut: false };
};

export interface Started {
  readonly pid: number | undefined;
  readonly result: Promise<ProcessResult>;
  end(reason: 'cancelled' | 'after-result'): void;
}

/** Starts what the spec describes; `onStdout` gets its bytes as they come. `dir` takes the two stream files. */
export const startSpec = (input: {
  readonly spec: ProcessSpec;
  readonly dir: string;
  readonly onStdout: (chunk: Uint8Array) => void;
}): Started => {
  const { spec, dir } = input;
  const files = { stdout: path.join(dir, 'stdout'), stderr: path.join(dir, 'stderr') };
  const startedAt = Date.now();
  const stdin = spec.stdin.kind === 'file' ? openSync(spec.stdin.path, 'r') : undefined;
  const child = spawn(spec.command, [...spec.args], {
    cwd: spec.cwd,
    env: { ...spec.env, GYRE_MARK: spec.marker },
    detached: true,
    stdio: [stdin ?? 'ignore', 'pipe', 'pipe'],
  });
  if (stdin !== undefined) closeSync(stdin);
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('spawn gave no pipes');
  let end: ProcessEnd = 'exited';
  let problem = '';
  let graceTimer: NodeJS.Timeout | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  const ask = (reason: ProcessEnd): void => {
    if (end !== 'exited' || child.pid === undefined) return;
    end = reason;
    const group = -child.pid;
    ended(group, spec.askSignal);
    graceTimer = setTimeout(() => ended(group, 'SIGKILL'), spec.limits.graceMs);
  };
  const stir = (): void => {
    clearTimeout(idleTimer);
    if (spec.limits.idleMs !== undefined) idleTimer = setTimeout(() => ask('idle'), spec.limits.idleMs);
  };
  const deadline = spec.limits.deadlineMs === undefined ? undefined : setTimeout(() => ask('deadline'), spec.limits.deadlineMs);
  const outputs = { stdout: createWriteStream(files.stdout), stderr: createWriteStream(files.stderr) };
  stdout.on('data', (chunk: Buffer) => {
    stir();
    input.onStdout(chunk);
  });
  stderr.on('data', stir);
  stdout.pipe(outputs.stdout);
  stderr.pipe(outputs.stderr);
  stir();

  const gone = new Promise<{ readonly code: number | null; readonly signal: string | null }>((resolve) => {
    child.once('error', (error) => {
      end = 'not-started';
      problem = error.message;
      resolve({ code: null, signal: null });
    });
    child.once('exit', (code, signal) => {
      // Descendants that stayed in the group, or left it, may hold the pipes open.
      if (child.pid !== undefined) ended(-child.pid, 'SIGKILL');
      resolve({ code, signal });
    });
  });
  const finish = async (): Promise<ProcessResult> => {
    const { code, signal } = await gone;
    for (const timer of [deadline, graceTimer, idleTimer]) clearTimeout(timer);
    const orphans = await carriers(spec.marker);
    for (const pid of orphans) ended(pid, 'SIGKILL');
    if (end === 'not-started') for (const output of Object.values(outputs)) output.end();
    await Promise.all(Object.values(outputs).map((output) => finished(output)));
    clearTimeout(idleTimer);
    const endedAt = Date.now();
    const base = { end, exitCode: code, signal, startedAt, endedAt, wallMs: endedAt - startedAt, suspendedMs: 0, problem };
    return { ...base, orphansKilled: orphans.length, stdout: await streamFile(files.stdout), stderr: await streamFile(files.stderr) };
  };
  return { pid: child.pid, result: finish(), end: ask };
};

/**
 * Runs one agent session the way an engine does: output into the reader, a grace after the final event, the reader's result at the end.
 * @param onStart gets the running process, e.g. to cancel it
 */
export const runAgent = async (input: {
  readonly adapter: AgentAdapter;
  readonly request: AgentRequest;
  readonly dir: string;
  readonly resultGraceMs?: number;
  readonly onStart?: (started: Started, reader: AgentReader) => void;
}): Promise<AgentRunResult> => {
  const reader = input.adapter.reader(input.request);
  const grace: { timer: NodeJS.Timeout | undefined } = { timer: undefined };
  const started = startSpec({
    spec: input.adapter.spec(input.request),
    dir: input.dir,
    onStdout: (chunk) => {
      reader.push(chunk);
      clearTimeout(grace.timer);
      if (reader.sawFinal) grace.timer = setTimeout(() => started.end('after-result'), input.resultGraceMs ?? 2000);
    },
  });
  input.onStart?.(started, reader);
  const result = await started.result;
  clearTimeout(grace.timer);
  const stderrTail = (await readFile(result.stderr.path)).subarray(-4000).toString('utf8');
  return reader.finish({ process: result, wasAdopted: false, stderrTail });
};
