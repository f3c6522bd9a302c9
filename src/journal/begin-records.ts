// Which runs an engine begins, and what it writes of those it cannot begin. The work of one write.
import type { Transaction } from './append.ts';
import { pendingCancel } from './cancel-requests.ts';
import type { Handlers } from './handlers.ts';
import { parkRun, releaseRun } from './park-records.ts';
import type { LoopHandler, RunRow } from './port.ts';
import { runColumns, runOfRow } from './rows.ts';
import { endRun, findPendingRuns, findRun, findStartableRuns, resumeRun, type RunOpening } from './run-records.ts';

export interface BeginOptions {
  readonly epoch: number;
  readonly handlers: Handlers;
  /** Runs that are executed here, or are just being left. */
  readonly isBusy: (run: string) => boolean;
  /** A serving engine begins what others asked for, and parks versions that nobody here knows. */
  readonly isServing: boolean;
}

export interface Begun {
  readonly openings: readonly { readonly opening: RunOpening; readonly handler: LoopHandler }[];
  /** Runs that came to their end without an execution. */
  readonly ended: readonly RunRow[];
}

const wasBegun = (transaction: Pick<Transaction, 'get'>, run: string): boolean =>
  transaction.get("SELECT 1 FROM facts WHERE run = ? AND kind = 'run.started' LIMIT 1", run) !== undefined;

const parkVersion = (transaction: Transaction, run: RunRow, known: readonly number[]): void =>
  parkRun(transaction, run, {
    code: 'VERSION_UNKNOWN',
    message: `Run ${run.id} was written by version ${run.version} of the loop ${run.loop}; this program knows ${known.join(', ')}.`,
  });

const beginThese = (transaction: Transaction, runs: readonly RunRow[], options: BeginOptions): Begun => {
  const { epoch, handlers, isBusy, isServing } = options;
  const openings: { opening: RunOpening; handler: LoopHandler }[] = [];
  const ended: RunRow[] = [];
  for (const run of runs) {
    if (isBusy(run.id)) continue;
    const handler = handlers.find(run);
    const begun = run.state === 'running' || wasBegun(transaction, run.id);
    const cancel = pendingCancel(transaction, run);
    if (!begun && cancel !== undefined) {
      // Nothing of it has happened, so that there is nothing for a handler to clean up.
      const error = { code: 'CANCELLED', message: cancel.reason };
      ended.push(endRun(transaction, run, { state: 'cancelled', output: undefined, error }));
    } else if (handler !== undefined && (isServing || begun || run.parent !== undefined)) {
      openings.push({ opening: resumeRun(transaction, run, epoch), handler });
    } else if (handler === undefined && isServing) {
      const known = handlers.versions(run.loop);
      if (known.length > 0) parkVersion(transaction, run, known);
    }
  }
  return { openings, ended };
};

/** Begins what is pending. */
export const beginPending = (transaction: Transaction, options: BeginOptions): Begun =>
  beginThese(transaction, findPendingRuns(transaction), options);

/** Goes on with everything a dead engine left open, and begins what is pending. */
export const beginStartable = (transaction: Transaction, options: BeginOptions): Begun =>
  beginThese(transaction, findStartableRuns(transaction), options);

/** Goes on with one run that a dead engine left open. */
export const beginLeft = (transaction: Transaction, id: string, options: BeginOptions): Begun => {
  const run = findRun(transaction, id);
  return beginThese(transaction, run?.state === 'running' ? [run] : [], options);
};

/** Runs that were parked for a version which is known now need nobody's attention any more. */
export const releaseKnownVersions = (transaction: Transaction, handlers: Handlers): void => {
  const parked = transaction
    .all(`SELECT ${runColumns} FROM runs WHERE state = 'needs-attention' AND json_extract(attention, '$.code') = 'VERSION_UNKNOWN'`)
    .map((row) => runOfRow(row));
  for (const run of parked) {
    if (handlers.find(run) !== undefined) releaseRun(transaction, run, { why: `version ${run.version} is known again` });
  }
};
