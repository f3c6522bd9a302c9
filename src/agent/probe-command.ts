import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { oneLine, plainText } from '../core/text.ts';
import type { EnvironmentRecord } from './environment.ts';
import type { AgentProbe } from './port.ts';

/** Longest wait for a program to say its version. */
export const versionMs = 10_000;

const versionBytesMax = 64 * 1024;

const isExecutable = async (file: string): Promise<boolean> => {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
};

/** Absolute path of a program as the system would find it: by its path, or in the folders of PATH in order. No shell is asked. */
export const findProgram = async (name: string, env: EnvironmentRecord): Promise<string | undefined> => {
  if (name.includes('/')) {
    const file = path.resolve(name);
    return (await isExecutable(file)) ? file : undefined;
  }
  for (const folder of (env['PATH'] ?? '').split(path.delimiter)) {
    if (folder === '') continue;
    const file = path.resolve(folder, name);
    if (await isExecutable(file)) return file;
  }
  return undefined;
};

const endGroup = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
};

/** Output of `<file> --version`; `undefined` when it failed or took longer than `limitMs`. Its whole process group is ended in any case. */
const versionOutput = (file: string, env: EnvironmentRecord, limitMs: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const child = spawn(file, ['--version'], { env: { ...env }, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (text: string | undefined): void => {
      clearTimeout(timer);
      endGroup(child.pid);
      child.stdout.destroy();
      resolve(text);
    };
    const timer = setTimeout(() => settle(undefined), limitMs);
    child.stdout.on('data', (chunk: Buffer) => {
      if (bytes < versionBytesMax) chunks.push(chunk);
      bytes += chunk.length;
    });
    child.once('error', () => settle(undefined));
    // A wrapper may leave a child behind that holds the pipe open: without it `close` follows, with all that was written.
    child.once('exit', () => endGroup(child.pid));
    child.once('close', (code) => settle(code === 0 ? Buffer.concat(chunks).toString('utf8') : undefined));
  });

/**
 * Looks for a program and asks it for its version.
 * @param name a name on PATH, or a path
 * @param env the environment it would be run with
 * @param limitMs longest wait for the version
 */
export const probeCommand = async (name: string, env: EnvironmentRecord, limitMs: number = versionMs): Promise<AgentProbe> => {
  const file = await findProgram(name, env);
  if (file === undefined) {
    const problem = name.includes('/')
      ? `There is no program at ${name} that can be run. Correct the path in \`agent.command\`, or make the file executable.`
      : `The program \`${name}\` is not in any folder of PATH. Install it, or give its path as \`agent.command\`.`;
    return { installed: false, version: undefined, path: undefined, problem };
  }
  const output = await versionOutput(file, env, limitMs);
  if (output === undefined) {
    const problem = `\`${file} --version\` failed or gave no answer within ${limitMs / 1000} s. Run it by hand to see why.`;
    return { installed: true, version: undefined, path: file, problem };
  }
  const line = oneLine(plainText(output).trim().split('\n', 1)[0] ?? '');
  return { installed: true, version: /\d+(?:\.\d+)+[^\s,)]*/.exec(line)?.[0] ?? (line === '' ? undefined : line), path: file, problem: '' };
};
