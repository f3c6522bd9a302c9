// Bad news in words: one sentence, what to do, and the documented exit code. No stack unless it is a defect of Gyre itself.
import { CommanderError } from 'commander';
import { exitCodes } from '../core/exit.ts';
import { Fault, Rejection } from '../core/fault.ts';
import { issueText } from '../core/issue-text.ts';
import { printJson } from './print.ts';

/**
 * Prints what went wrong on stderr; with `--json` also as one document on stdout, so that a program that reads it always finds one.
 * @returns the exit code
 */
export const reportError = (error: unknown, { json }: { readonly json: boolean }): number => {
  const exitCode = exitWith(error, (text) => process.stderr.write(`${text}\n`));
  if (json && exitCode !== 0) printJson({ error: { ...plainError(error), exitCode } });
  return exitCode;
};

const plainError = (error: unknown): object => {
  if (error instanceof Rejection) return { code: 'USAGE', message: error.message, issues: error.issues.map(issueText), hint: error.hint };
  if (error instanceof Fault) return { code: error.code, message: error.message, hint: error.hint };
  if (error instanceof CommanderError) return { code: 'USAGE', message: error.message.replace(/^error: /, '') };
  return { code: 'DEFECT', message: error instanceof Error ? error.message : String(error) };
};

const exitWith = (error: unknown, print: (line: string) => void): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  if (error instanceof Rejection) {
    print(`gyre: ${error.message}`);
    for (const issue of error.issues) print(`  ${issueText(issue)}`);
    if (error.hint !== undefined) print(error.hint);
    return exitCodes.usage;
  }
  if (error instanceof Fault) {
    print(`gyre: ${error.message}`);
    if (error.hint !== undefined) print(error.hint);
    return error.code === 'DAEMON_STOPPED' ? exitCodes.daemonStopped : exitCodes.fault;
  }
  // Asked to end before anything was at work: what there is to say was said when it was asked.
  if (error instanceof Error && 'code' in error && error.code === 'CANCELLED') return exitCodes.stopped;
  print(`gyre: this is a defect of Gyre: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  print('Nothing that was recorded is lost. `gyre status` shows what is open.');
  return exitCodes.fault;
};
