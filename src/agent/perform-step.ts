import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { oneLine } from '../core/text.ts';
import type { ScriptStep } from './script-format.ts';

/** Exit codes of the scripted agent, apart from those of `exit` steps. */
export const scriptedExit = { stepFailed: 8, promptLacks: 9, badScript: 64, noEntry: 65 } as const;

/** `next`: go on. `end`: the agent ends with this code and says why on stderr. */
export type StepEnd = { readonly end: 'next' } | { readonly end: 'end'; readonly code: number; readonly why: string };

export interface StepWorld {
  /** The workspace. */
  readonly cwd: string;
  readonly prompt: string;
  readonly print: (text: string) => void;
}

const next: StepEnd = { end: 'next' };
const failed = (why: string): StepEnd => ({ end: 'end', code: scriptedExit.stepFailed, why });

/** Runs a program in a folder; gives its exit code, or 128 when a signal ended it. */
const runProgram = (
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly output: 'inherit' | 'ignore' },
): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: options.cwd, stdio: ['ignore', options.output, options.output] });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 128));
  });

/** Absolute path of a file of the workspace; `undefined` when it would lie outside. */
const inside = (cwd: string, file: string): string | undefined => {
  const full = path.resolve(cwd, file);
  const relative = path.relative(cwd, full);
  return relative === '' || relative === '..' || relative.startsWith(`..${path.sep}`) ? undefined : full;
};

const outside = (file: string): StepEnd => failed(`${file} is no file inside the workspace.`);

const edit = async (input: { readonly file: string; readonly find: string; readonly replace: string }, cwd: string): Promise<StepEnd> => {
  const full = inside(cwd, input.file);
  if (full === undefined) return outside(input.file);
  const text = await readFile(full, 'utf8').catch(() => undefined);
  if (text === undefined) return failed(`${input.file} cannot be read.`);
  const parts = text.split(input.find);
  if (parts.length !== 2) return failed(`${input.file} holds the text to find ${parts.length - 1} times, and once was wanted.`);
  await writeFile(full, parts.join(input.replace));
  return next;
};

const write = async (input: { readonly file: string; readonly text: string }, cwd: string): Promise<StepEnd> => {
  const full = inside(cwd, input.file);
  if (full === undefined) return outside(input.file);
  await mkdir(path.dirname(full), { recursive: true });
  await writeFile(full, input.text);
  return next;
};

const remove = async (file: string, cwd: string): Promise<StepEnd> => {
  const full = inside(cwd, file);
  if (full === undefined) return outside(file);
  try {
    await rm(full, { recursive: true });
    return next;
  } catch {
    return failed(`${file} cannot be deleted: it is not there, or not ours to delete.`);
  }
};

const commit = async (message: string, cwd: string): Promise<StepEnd> => {
  const hasAuthor = (await runProgram('git', ['config', '--get', 'user.email'], { cwd, output: 'ignore' })) === 0;
  const identity = hasAuthor ? [] : ['-c', 'user.name=Scripted agent', '-c', 'user.email=scripted@gyre.invalid'];
  // Nobody is there to type a passphrase for a signature.
  const args = [...identity, '-c', 'commit.gpgSign=false', 'commit', '--quiet', '--message', message];
  const code =
    (await runProgram('git', ['add', '--all'], { cwd, output: 'inherit' })) || (await runProgram('git', args, { cwd, output: 'inherit' }));
  return code === 0 ? next : failed(`The commit "${oneLine(message)}" failed with exit code ${code}.`);
};

/** Performs one step in the workspace. Throws only what the system throws. */
export const performStep = async (step: ScriptStep, world: StepWorld): Promise<StepEnd> => {
  if ('edit' in step) return edit(step.edit, world.cwd);
  if ('write' in step) return write(step.write, world.cwd);
  if ('delete' in step) return remove(step.delete, world.cwd);
  if ('commit' in step) return commit(step.commit, world.cwd);
  if ('exit' in step) return { end: 'end', code: step.exit, why: '' };
  if ('run' in step) {
    const code = await runProgram('sh', ['-c', step.run], { cwd: world.cwd, output: 'inherit' });
    return code === 0 ? next : failed(`The command "${oneLine(step.run)}" ended with exit code ${code}.`);
  }
  if ('print' in step) {
    world.print(step.print.endsWith('\n') ? step.print : `${step.print}\n`);
    return next;
  }
  if ('sleep' in step) {
    await sleep(step.sleep);
    return next;
  }
  const wanted = step['expect-prompt'].contains;
  if (world.prompt.includes(wanted)) return next;
  return { end: 'end', code: scriptedExit.promptLacks, why: `The prompt does not contain "${oneLine(wanted, 200)}".` };
};
