// Starts the program: its own process group, a file or nothing as stdin so that its end always comes, exactly the given environment.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';

import { identityOf, selfIdentity } from './identity.ts';
import type { StoredSpec } from './job-files.ts';
import { closeInputs, openPipes } from './output-pipe.ts';
import type { ProcessIdentity } from './port.ts';

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Launched {
  readonly identity: ProcessIdentity;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<Exit>;
}

export type Launch = { readonly started: true; readonly program: Launched } | { readonly started: false; readonly problem: string };

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** One sentence when the folder to start in cannot be used, else empty. The system itself blames the program for it (ENOENT). */
const folderProblem = (cwd: string): string => {
  try {
    return statSync(cwd).isDirectory() ? '' : `The folder to work in is not a folder: ${cwd}`;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return `The folder to work in is missing: ${cwd}`;
    return `The folder to work in cannot be used (${codeOf(error)}): ${cwd}`;
  }
};

/** Why a program did not start, in one sentence that names what is really wrong. */
export const launchProblem = (
  error: unknown,
  about: { readonly spec: StoredSpec; readonly env: Readonly<Record<string, string>> },
): string => {
  const { command, args, cwd } = about.spec;
  const folder = folderProblem(cwd);
  if (folder !== '') return folder;
  const size = [command, ...args, ...Object.entries(about.env).flat()].reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
  switch (codeOf(error)) {
    case 'ENOENT': {
      if (!command.includes('/')) return `The program ${command} was not found on PATH (${about.env['PATH'] ?? 'which is not set'})`;
      if (!existsSync(path.resolve(cwd, command))) return `The program was not found: ${command}`;
      return `The program is there, but the interpreter that its first line names was not found: ${command}`;
    }
    case 'EACCES':
      return `The program may not be executed (EACCES, look at its mode and folder): ${command}`;
    case 'E2BIG':
      return `Arguments and environment (${size} bytes) are too large for this system to start ${command}`;
    default:
      return `The program ${command} could not be started: ${error instanceof Error ? error.message : String(error)}`;
  }
};

const openStdin = (spec: StoredSpec): { readonly stdin: number } | { readonly problem: string } => {
  try {
    return { stdin: openSync(spec.stdin.kind === 'file' ? spec.stdin.path : '/dev/null', 'r') };
  } catch (error) {
    return {
      problem: `The file for standard input cannot be read (${codeOf(error)}): ${spec.stdin.kind === 'file' ? spec.stdin.path : '/dev/null'}`,
    };
  }
};

const exitOf = (child: ChildProcess): Promise<Exit> =>
  new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });

/**
 * Starts the program of a job. Never throws: what the system refuses is told as a problem.
 * @param options.env the complete environment
 */
export const launch = async (options: {
  readonly jobDir: string;
  readonly spec: StoredSpec;
  readonly env: Readonly<Record<string, string>>;
}): Promise<Launch> => {
  const { spec, env } = options;
  const folder = folderProblem(spec.cwd);
  if (folder !== '') return { started: false, problem: folder };
  const input = openStdin(spec);
  if ('problem' in input) return { started: false, problem: input.problem };
  const pipes = openPipes(options.jobDir);
  try {
    const child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env,
      detached: true,
      stdio: [input.stdin, pipes?.stdout.input ?? 'pipe', pipes?.stderr.input ?? 'pipe'],
    });
    const exited = exitOf(child);
    const { pid } = child;
    const stdout = pipes?.stdout.output ?? child.stdout;
    const stderr = pipes?.stderr.output ?? child.stderr;
    if (pid !== undefined && stdout !== null && stderr !== null) {
      // Before the next turn of the event loop the program cannot be reaped, so even one that is over already is still in the table.
      const identity = identityOf(pid) ?? { ...selfIdentity(), pid, startTime: 'unknown' };
      return { started: true, program: { identity, stdout, stderr, exited } };
    }
    const error = await new Promise((resolve) => {
      child.once('error', resolve);
    });
    return { started: false, problem: launchProblem(error, { spec, env }) };
  } catch (error) {
    return { started: false, problem: launchProblem(error, { spec, env }) };
  } finally {
    closeInputs(pipes);
    closeSync(input.stdin);
  }
};
