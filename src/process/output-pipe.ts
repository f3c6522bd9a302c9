// The pipe a program writes into. Node's own 'pipe' is a socket, which cannot be opened again by name: `echo oops > /dev/stderr`, common
// in scripts, works in a terminal and fails with ENXIO under Node. A FIFO is a true pipe, so programs behave as they do elsewhere.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';

export interface OutputPipe {
  readonly output: Socket;
  /** For the program; to be closed here once it has it, or the end of the stream never comes. */
  readonly input: number;
}

const names = ['stdout', 'stderr'] as const;

/** @returns pipes for stdout and stderr, or `undefined` where the system or the file system has no FIFOs. */
export const openPipes = (dir: string): Record<(typeof names)[number], OutputPipe> | undefined => {
  const files = names.map((name) => path.join(dir, `${name}.pipe`));
  for (const file of files) rmSync(file, { force: true });
  try {
    execFileSync('mkfifo', ['-m', '600', ...files], { stdio: 'ignore', env: { PATH: '/usr/bin:/bin:/run/current-system/sw/bin' } });
    const [stdout, stderr] = files.map((file): OutputPipe => {
      // The reading end first and without waiting: a FIFO opens for writing only when someone reads.
      const output = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
      return { input: openSync(file, constants.O_WRONLY), output: new Socket({ fd: output, readable: true, writable: false }) };
    });
    return stdout === undefined || stderr === undefined ? undefined : { stdout, stderr };
  } catch {
    return undefined;
  } finally {
    for (const file of files) rmSync(file, { force: true });
  }
};

export const closeInputs = (pipes: Record<string, OutputPipe> | undefined): void => {
  for (const pipe of Object.values(pipes ?? {})) closeSync(pipe.input);
};
