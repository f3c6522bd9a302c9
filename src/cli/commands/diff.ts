import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Rejection } from '../../core/fault.ts';
import { attemptsOf, inputOf } from '../../loop/read.ts';
import { changedPaths } from '../../workspace/index.ts';
import { findRun, readJournal } from '../place.ts';
import { printJson } from '../print.ts';
import { terminalPrinter } from '../terminal-text.ts';
import { pickAttempt } from '../pick-attempt.ts';

export const diff = async (text: string, options: { readonly attempt?: string; readonly json?: boolean }): Promise<void> => {
  const { place, reader } = await readJournal();
  const run = findRun(reader, text);
  const attempt = pickAttempt(attemptsOf(run), options.attempt);
  const { base } = inputOf(run);
  const { candidate } = attempt;
  if (candidate === undefined) throw new Rejection(`Attempt ${attempt.record.attempt} of run ${run.id} left no change.`);
  if (options.json === true) {
    printJson({
      run: run.id,
      attempt: attempt.record.attempt,
      base,
      candidate,
      changed: await changedPaths(place.repository, base, candidate),
    });
    return;
  }
  // Into a file or a pipe every byte as it is, so that the patch applies; on a terminal only what a terminal may be shown.
  const toTerminal = process.stdout.isTTY;
  const child = spawn('git', ['--no-pager', 'diff', '--no-ext-diff', base, candidate, '--'], {
    cwd: place.repository.root,
    stdio: ['ignore', toTerminal ? 'pipe' : 'inherit', 'inherit'],
    env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' },
  });
  child.stdout?.on('data', terminalPrinter());
  await once(child, 'close');
};
