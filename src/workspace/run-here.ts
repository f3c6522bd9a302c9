import { spawn } from 'node:child_process';

/** Between asking the group to end (git removes its lock files then) and killing it. */
const graceMs = 2_000;
/** How long the output may stay open after the end of the program: a child of it holds the pipe. */
const drainMs = 2_000;
const errorBytes = 65_536;

/** A short program: what to run, what it may read, and how far it may go. */
export interface BoundedCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string | Uint8Array | undefined;
  readonly limitMs: number;
  readonly outputBytes: number;
}

export interface BoundedEnd {
  /** `lost`: it began, and the process that held it ended (see runner.ts). What it did is not known. */
  readonly end: 'exited' | 'timed-out' | 'too-much-output' | 'not-started' | 'lost';
  /** -1 when the program did not end by itself. */
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Ends or kills a process group; one that is gone is no error. */
export const signalGroup = (pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone, which is what was wanted.
  }
};

/**
 * Runs a short program as a child of this process, in a process group of its own, to its end or to a limit. Never rejects; at its limit the
 * whole group is ended.
 * @param onStarted is given its pid, which is also that of its group
 */
export const runHere = (call: BoundedCall, onStarted: (pid: number) => void = () => {}): Promise<BoundedEnd> =>
  new Promise((resolve) => {
    const child = spawn(call.command, [...call.args], { cwd: call.cwd, env: { ...call.env }, detached: true, stdio: 'pipe' });
    if (child.pid !== undefined) onStarted(child.pid);
    const chunks: Buffer[] = [];
    const errors: Buffer[] = [];
    const timers: NodeJS.Timeout[] = [];
    let bytes = 0;
    let errorsKept = 0;
    let end: BoundedEnd['end'] = 'exited';
    let exitCode = -1;

    const settle = (): void => {
      for (const timer of timers) clearTimeout(timer);
      child.stdout.destroy();
      child.stderr.destroy();
      child.stdin.destroy();
      resolve({
        end,
        code: end === 'exited' ? exitCode : -1,
        stdout: Buffer.concat(chunks),
        stderr: Buffer.concat(errors).toString('utf8'),
      });
    };
    const stop = (why: 'timed-out' | 'too-much-output'): void => {
      if (end !== 'exited') return;
      end = why;
      signalGroup(child.pid, 'SIGTERM');
      timers.push(setTimeout(() => signalGroup(child.pid, 'SIGKILL'), graceMs));
    };

    timers.push(setTimeout(() => stop('timed-out'), call.limitMs));
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > call.outputBytes) stop('too-much-output');
      else chunks.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (errorsKept >= errorBytes) return;
      errors.push(chunk);
      errorsKept += chunk.length;
    });
    // A program that ends before it has read its input breaks the pipe; its exit code tells the rest.
    child.stdin.on('error', () => {});
    child.on('error', (error) => {
      end = 'not-started';
      errors.push(Buffer.from(error.message));
      settle();
    });
    child.on('exit', (code) => {
      exitCode = code ?? -1;
      timers.push(
        setTimeout(() => {
          signalGroup(child.pid, 'SIGKILL');
          settle();
        }, drainMs),
      );
    });
    child.on('close', settle);
    child.stdin.end(call.input ?? '');
  });
