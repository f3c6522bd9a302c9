// Bad news in words: one sentence, what to do, and the documented exit code. No stack unless it is a defect of Gyre itself.
import { CommanderError } from 'commander';
import { exitCodes } from '../core/exit.ts';
import { Fault, Rejection } from '../core/fault.ts';
import { issueText } from '../core/issue-text.ts';

/** Prints what went wrong and returns the exit code. */
export const exitWith = (error: unknown, print: (line: string) => void): number => {
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
    return exitCodes.fault;
  }
  // Asked to end before anything was at work: what there is to say was said when it was asked.
  if (error instanceof Error && 'code' in error && error.code === 'CANCELLED') return exitCodes.stopped;
  print(`gyre: this is a defect of Gyre: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  print('Nothing that was recorded is lost. `gyre status` shows what is open.');
  return exitCodes.fault;
};
