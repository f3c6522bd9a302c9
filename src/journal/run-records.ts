// What is written when a run is asked for, begins, goes on, is opened again, shows something, or ends. Each function is the work of a write.
import { Defect, Fault } from '../core/fault.ts';
import type { RunId } from '../core/ids.ts';
import { releaseReserved } from './budget-records.ts';
import { forgetCancels, pendingCancel } from './cancel-requests.ts';
import type { Queries, Transaction } from './append.ts';
import { canonicalJson } from './chain.ts';
import type { ErrorRecord } from './error-record.ts';
import { decodeJson } from './json.ts';
import type { Amounts, LoopHandler, RunRow, StartOptions } from './port.ts';
import { numberAt, runColumns, runOfRow, type StepRow, textAt } from './rows.ts';
import { isOpen } from './run-state.ts';
import { loadSteps } from './step-records.ts';
import { endWaits } from './wait-records.ts';

export const findRun = (queries: Pick<Queries, 'get'>, id: string): RunRow | undefined => {
  const row = queries.get(`SELECT ${runColumns} FROM runs WHERE id = ?`, id);
  return row === undefined ? undefined : runOfRow(row);
};

export const findOpenByDedupeKey = (queries: Pick<Queries, 'get'>, dedupeKey: string): RunRow | undefined => {
  const row = queries.get(`SELECT ${runColumns} FROM runs WHERE dedupe_key = ? AND ended_at IS NULL`, dedupeKey);
  return row === undefined ? undefined : runOfRow(row);
};

const inOrder = 'ORDER BY priority DESC, started_at, rowid';

/** Runs that an execution can go on with: not those that wait for a person. */
export const findStartableRuns = (queries: Pick<Queries, 'all'>): readonly RunRow[] =>
  queries.all(`SELECT ${runColumns} FROM runs WHERE state IN ('pending', 'running') ${inOrder}`).map((row) => runOfRow(row));

export const findPendingRuns = (queries: Pick<Queries, 'all'>): readonly RunRow[] =>
  queries.all(`SELECT ${runColumns} FROM runs WHERE state = 'pending' ${inOrder}`).map((row) => runOfRow(row));

/** What an execution needs to know of a run beside its row. */
export interface Limits {
  /** The generation with which its history begins: above 1 after `continueAs`. */
  readonly historyFrom: number;
  readonly onLimit: 'park' | 'fail';
}

/** A run as it is handed to its execution. */
export interface RunOpening {
  readonly run: RunRow;
  readonly limits: Limits;
  readonly steps: Map<string, StepRow>;
  /** The reason of a cancel that was asked for and not yet obeyed. */
  readonly cancelAsked: string | undefined;
}

const limitsOf = (queries: Pick<Queries, 'get'>, id: string): Limits => {
  const row = queries.get('SELECT history_from, on_limit FROM runs WHERE id = ?', id);
  if (row === undefined) throw new Defect(`Run ${id} is not in the journal.`);
  return { historyFrom: numberAt(row, 'history_from'), onLimit: textAt(row, 'on_limit') as Limits['onLimit'] };
};

const openingOf = (transaction: Transaction, run: RunRow): RunOpening => ({
  run,
  limits: limitsOf(transaction, run.id),
  steps: loadSteps(transaction, run.id),
  cancelAsked: pendingCancel(transaction, run)?.reason,
});

const written = (transaction: Transaction, id: string): RunRow => {
  const run = findRun(transaction, id);
  if (run === undefined) throw new Defect(`Run ${id} is not in the journal that just wrote it.`);
  return run;
};

export interface NewRun extends Omit<StartOptions, 'deadlineAt'> {
  readonly handler: Pick<LoopHandler, 'name' | 'version'>;
  /** JSON text. */
  readonly input: string | undefined;
  readonly state: 'pending' | 'running';
  readonly deadlineAt?: number;
  readonly parent?: {
    readonly run: string;
    readonly key: string;
    readonly detached: boolean;
    readonly onParentCancel: 'cancel' | 'leave';
  };
}

/** The row of a new run, without a fact. */
export const insertRun = (transaction: Transaction, start: NewRun): void =>
  transaction.run(
    `INSERT INTO runs (id, loop, version, state, generation, dedupe_key, input, view, started_at, parent, parent_key, detached,
       on_parent_cancel, priority, labels, deadline_at, budget, on_limit)
     VALUES (?, ?, ?, ?, 1, ?, ?, '{}', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    start.id,
    start.handler.name,
    start.handler.version,
    start.state,
    start.dedupeKey,
    start.input ?? null,
    transaction.now,
    start.parent?.run ?? null,
    start.parent?.key ?? null,
    start.parent?.detached === true ? 1 : 0,
    start.parent?.onParentCancel ?? 'cancel',
    start.priority ?? 0,
    JSON.stringify(start.labels ?? {}),
    start.deadlineAt ?? null,
    JSON.stringify(start.budget ?? {}),
    start.onLimit ?? 'park',
  );

const noteStart = (transaction: Transaction, run: RunRow): void => {
  const { loop, version, dedupeKey, input, priority, labels, deadlineAt, budget } = run;
  const named = (amounts: Amounts | RunRow['labels']): boolean => Object.keys(amounts).length > 0;
  const data = {
    generation: run.generation,
    loop,
    version,
    dedupeKey,
    input,
    ...(run.parent === undefined ? {} : { parent: run.parent }),
    ...(priority === 0 ? {} : { priority }),
    ...(named(labels) ? { labels } : {}),
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
    ...(named(budget) ? { budget } : {}),
  };
  transaction.fact({ kind: 'run.started', run: run.id, data: canonicalJson(data) });
};

/** Starts a run, unless its id is known or an open run holds its dedupe key. */
export const startRun = (
  transaction: Transaction,
  start: Omit<NewRun, 'state'>,
): { readonly run: RunRow; readonly opening: RunOpening | undefined } => {
  const existing = findRun(transaction, start.id) ?? findOpenByDedupeKey(transaction, start.dedupeKey);
  if (existing !== undefined) return { run: existing, opening: undefined };
  insertRun(transaction, { ...start, state: 'running' });
  const run = written(transaction, start.id);
  noteStart(transaction, run);
  // Nothing can have been recorded or asked of it yet.
  const limits = { historyFrom: run.generation, onLimit: start.onLimit ?? 'park' } as const;
  return { run, opening: { run, limits, steps: new Map(), cancelAsked: undefined } };
};

/** Begins a pending run, or says that this engine goes on with one that was begun before. */
export const resumeRun = (transaction: Transaction, run: RunRow, epoch: number): RunOpening => {
  const wasBegun = transaction.get("SELECT 1 FROM facts WHERE run = ? AND kind = 'run.started' LIMIT 1", run.id) !== undefined;
  if (run.state === 'pending') transaction.run("UPDATE runs SET state = 'running' WHERE id = ?", run.id);
  if (!wasBegun) transaction.run('UPDATE runs SET started_at = ? WHERE id = ?', transaction.now, run.id);
  const begun = written(transaction, run.id);
  if (wasBegun) transaction.fact({ kind: 'run.resumed', run: run.id, data: canonicalJson({ generation: run.generation, epoch }) });
  else noteStart(transaction, begun);
  return openingOf(transaction, begun);
};

/** Opens the next generation of an ended run. */
export const openAgain = (
  transaction: Transaction,
  run: RunRow,
  next: { readonly version: number; readonly input: string | undefined; readonly state: 'pending' | 'running'; readonly from?: string },
): void => {
  const { version, input, state, from } = next;
  transaction.run(
    `UPDATE runs SET state = ?, generation = generation + 1, version = ?, input = ?, output = NULL, error = NULL, ended_at = NULL WHERE id = ?`,
    state,
    version,
    input ?? null,
    run.id,
  );
  const data = {
    generation: run.generation + 1,
    loop: run.loop,
    version,
    input: decodeJson(input),
    ...(from === undefined ? {} : { from }),
  };
  transaction.fact({ kind: 'run.reopened', run: run.id, data: canonicalJson(data) });
};

/** Why an ended run may not be opened again, as a value, because the work of a write throws for mistakes of the engine alone. */
export const refusalToReopen = (transaction: Pick<Queries, 'get'>, id: string, run: RunRow | undefined): Fault | undefined => {
  if (run === undefined) return new Fault('RUN_UNKNOWN', `There is no run ${id} in this journal.`, { data: { run: id } });
  if (isOpen(run)) return new Fault('RUN_OPEN', `Run ${id} has not ended, so that it cannot be opened again.`, { data: { run: id } });
  if (run.purgedAt !== undefined) {
    return new Fault('RUN_PURGED', `The steps of run ${id} were purged, so that it cannot be opened again.`, {
      hint: 'Start a new run for the same work.',
      data: { run: id, purgedAt: run.purgedAt },
    });
  }
  const rival = findOpenByDedupeKey(transaction, run.dedupeKey);
  if (rival === undefined) return undefined;
  return new Fault('RUN_DUPLICATE', `Run ${id} cannot be opened again while run ${rival.id} does the same work (${run.dedupeKey}).`, {
    hint: `Wait for run ${rival.id} or cancel it.`,
    data: { run: id, rival: rival.id, dedupeKey: run.dedupeKey },
  });
};

export const reopenRun = (
  transaction: Transaction,
  reopen: { readonly id: RunId; readonly handler: LoopHandler; readonly input: string | undefined },
): RunOpening | Fault => {
  const { id, handler, input } = reopen;
  const run = findRun(transaction, id);
  const refusal = refusalToReopen(transaction, id, run);
  if (run === undefined || refusal?.code === 'RUN_OPEN')
    return refusal ?? new Fault('RUN_UNKNOWN', `There is no run ${id} in this journal.`);
  if (run.loop !== handler.name) {
    return new Fault('RUN_OTHER_LOOP', `Run ${id} belongs to the loop ${run.loop} and not to ${handler.name}.`, {
      data: { run: id, loop: run.loop },
    });
  }
  if (refusal !== undefined) return refusal;
  openAgain(transaction, run, { version: handler.version, input, state: 'running' });
  return openingOf(transaction, written(transaction, id));
};

/** The next generation with an empty history and a new input; the run goes on without having ended. */
export const continueRun = (transaction: Transaction, run: RunRow, input: string | undefined): void => {
  const generation = run.generation + 1;
  transaction.run(
    "UPDATE runs SET state = 'pending', generation = ?, history_from = ?, input = ? WHERE id = ?",
    generation,
    generation,
    input ?? null,
    run.id,
  );
  transaction.run('DELETE FROM steps WHERE run = ?', run.id);
  // A cancel that came at the last moment is meant for the run, not for the history that ends here.
  transaction.run('UPDATE cancels SET generation = ? WHERE run = ?', generation, run.id);
  endWaits(transaction, run.id, '');
  releaseReserved(transaction, run.id);
  transaction.fact({ kind: 'run.continued', run: run.id, data: canonicalJson({ generation, input: decodeJson(input) }) });
};

export const showView = (transaction: Transaction, run: string, view: string): void =>
  transaction.run('UPDATE runs SET view = ? WHERE id = ?', view, run);

export interface RunEnd {
  readonly state: 'done' | 'failed' | 'cancelled';
  /** JSON text. */
  readonly output: string | undefined;
  readonly error: ErrorRecord | undefined;
}

export const endRun = (transaction: Transaction, run: Pick<RunRow, 'id' | 'generation'>, end: RunEnd): RunRow => {
  transaction.run(
    'UPDATE runs SET state = ?, output = ?, error = ?, attention = NULL, ended_at = ? WHERE id = ?',
    end.state,
    end.output ?? null,
    end.error === undefined ? null : JSON.stringify(end.error),
    transaction.now,
    run.id,
  );
  forgetCancels(transaction, run.id);
  endWaits(transaction, run.id, '');
  releaseReserved(transaction, run.id);
  const data = { generation: run.generation, state: end.state, output: decodeJson(end.output), error: end.error };
  transaction.fact({ kind: 'run.ended', run: run.id, data: canonicalJson(data) });
  return written(transaction, run.id);
};
