// What is written when a run starts, is resumed, reopened, shows something, or ends. Each function is the work of one write.
import { Defect, Fault } from '../core/fault.ts';
import type { RunId } from '../core/ids.ts';
import { forgetCancels, pendingCancels } from './cancel-requests.ts';
import type { Queries, Transaction } from './append.ts';
import { canonicalJson } from './chain.ts';
import type { ErrorRecord } from './error-record.ts';
import { decodeJson } from './json.ts';
import type { LoopHandler, RunRow } from './port.ts';
import { runColumns, runOfRow, type StepRow } from './rows.ts';
import { isOpen } from './run-state.ts';
import { loadSteps } from './step-records.ts';

export const findRun = (queries: Pick<Queries, 'get'>, id: string): RunRow | undefined => {
  const row = queries.get(`SELECT ${runColumns} FROM runs WHERE id = ?`, id);
  return row === undefined ? undefined : runOfRow(row);
};

const findOpenByDedupeKey = (queries: Pick<Queries, 'get'>, dedupeKey: string): RunRow | undefined => {
  const row = queries.get(`SELECT ${runColumns} FROM runs WHERE dedupe_key = ? AND ended_at IS NULL`, dedupeKey);
  return row === undefined ? undefined : runOfRow(row);
};

/** Runs that an execution can go on with: not those that wait for a person. */
export const findStartableRuns = (queries: Queries): readonly RunRow[] =>
  queries
    .all(`SELECT ${runColumns} FROM runs WHERE state IN ('pending', 'running') ORDER BY priority DESC, started_at, id`)
    .map((row) => runOfRow(row));

/** A run as it is handed to its execution. */
export interface RunOpening {
  readonly run: RunRow;
  readonly steps: Map<string, StepRow>;
  /** The reason of a cancel that was asked for and not yet obeyed. */
  readonly cancelAsked: string | undefined;
}

const openingOf = (transaction: Transaction, run: RunRow): RunOpening => ({
  run,
  steps: loadSteps(transaction, run.id),
  cancelAsked: pendingCancels(transaction).find(({ run: id, generation }) => id === run.id && generation === run.generation)?.reason,
});

const written = (transaction: Transaction, id: string): RunRow => {
  const run = findRun(transaction, id);
  if (run === undefined) throw new Defect(`Run ${id} is not in the journal that just wrote it.`);
  return run;
};

export interface RunStart {
  readonly id: RunId;
  readonly dedupeKey: string;
  readonly handler: LoopHandler;
  /** JSON text. */
  readonly input: string | undefined;
}

/** Starts a run, unless its id is known or an open run holds its dedupe key. */
export const startRun = (transaction: Transaction, start: RunStart): { readonly run: RunRow; readonly opening: RunOpening | undefined } => {
  const existing = findRun(transaction, start.id) ?? findOpenByDedupeKey(transaction, start.dedupeKey);
  if (existing !== undefined) return { run: existing, opening: undefined };
  const { id, dedupeKey, handler, input } = start;
  transaction.run(
    `INSERT INTO runs (id, loop, version, state, generation, dedupe_key, input, view, started_at) VALUES (?, ?, ?, 'running', 1, ?, ?, '{}', ?)`,
    id,
    handler.name,
    handler.version,
    dedupeKey,
    input ?? null,
    transaction.now,
  );
  const data = { generation: 1, loop: handler.name, version: handler.version, dedupeKey, input: decodeJson(input) };
  transaction.fact({ kind: 'run.started', run: id, data: canonicalJson(data) });
  const run = written(transaction, id);
  return { run, opening: openingOf(transaction, run) };
};

/** Says that this engine goes on with a run another one left open. */
export const resumeRun = (transaction: Transaction, run: RunRow, epoch: number): RunOpening => {
  transaction.fact({ kind: 'run.resumed', run: run.id, data: canonicalJson({ generation: run.generation, epoch }) });
  return openingOf(transaction, run);
};

/** Opens the next generation; a refusal is given back as a value, because the work of a write throws for mistakes of the engine alone. */
export const reopenRun = (transaction: Transaction, reopen: Omit<RunStart, 'dedupeKey'>): RunOpening | Fault => {
  const { id, handler, input } = reopen;
  const run = findRun(transaction, id);
  if (run === undefined) return new Fault('RUN_UNKNOWN', `There is no run ${id} in this journal.`, { data: { run: id } });
  if (isOpen(run)) return new Fault('RUN_OPEN', `Run ${id} has not ended, so that it cannot be opened again.`, { data: { run: id } });
  if (run.loop !== handler.name) {
    return new Fault('RUN_OTHER_LOOP', `Run ${id} belongs to the loop ${run.loop} and not to ${handler.name}.`, {
      data: { run: id, loop: run.loop },
    });
  }
  const rival = findOpenByDedupeKey(transaction, run.dedupeKey);
  if (rival !== undefined) {
    return new Fault('RUN_DUPLICATE', `Run ${id} cannot be opened again while run ${rival.id} does the same work (${run.dedupeKey}).`, {
      hint: `Wait for run ${rival.id} or cancel it.`,
      data: { run: id, rival: rival.id, dedupeKey: run.dedupeKey },
    });
  }
  transaction.run(
    `UPDATE runs SET state = 'running', generation = generation + 1, version = ?, input = ?, output = NULL, error = NULL, ended_at = NULL WHERE id = ?`,
    handler.version,
    input ?? null,
    id,
  );
  const data = { generation: run.generation + 1, loop: handler.name, version: handler.version, input: decodeJson(input) };
  transaction.fact({ kind: 'run.reopened', run: id, data: canonicalJson(data) });
  return openingOf(transaction, written(transaction, id));
};

export const showView = (transaction: Transaction, run: string, view: string): void =>
  transaction.run('UPDATE runs SET view = ? WHERE id = ?', view, run);

export interface RunEnd {
  readonly state: 'done' | 'failed' | 'cancelled';
  /** JSON text. */
  readonly output: string | undefined;
  readonly error: ErrorRecord | undefined;
}

export const endRun = (transaction: Transaction, run: RunRow, end: RunEnd): RunRow => {
  transaction.run(
    'UPDATE runs SET state = ?, output = ?, error = ?, ended_at = ? WHERE id = ?',
    end.state,
    end.output ?? null,
    end.error === undefined ? null : JSON.stringify(end.error),
    transaction.now,
    run.id,
  );
  forgetCancels(transaction, run.id);
  const data = { generation: run.generation, state: end.state, output: decodeJson(end.output), error: end.error };
  transaction.fact({ kind: 'run.ended', run: run.id, data: canonicalJson(data) });
  return written(transaction, run.id);
};
