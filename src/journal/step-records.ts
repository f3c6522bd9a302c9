// What is written of a step: its intent, its outcome, its failure. Each function is the work of one write.
import type { SQLInputValue } from 'node:sqlite';
import type { Queries, Transaction } from './append.ts';
import { canonicalJson } from './chain.ts';
import type { ErrorRecord } from './error-record.ts';
import { decodeJson } from './json.ts';
import type { RunRow } from './port.ts';
import { type StepRow, stepOfRow } from './rows.ts';

export const loadSteps = (queries: Queries, run: string): Map<string, StepRow> =>
  new Map(queries.all('SELECT * FROM steps WHERE run = ?', run).map((row) => [String(row['key']), stepOfRow(row)]));

const planText = (plan: StepRow['plan']): string => (Object.keys(plan).length === 0 ? '{}' : JSON.stringify(plan));

/** What changes in a step, in the order of both statements below. */
const changing = (step: StepRow): readonly SQLInputValue[] => [
  step.state,
  step.generation,
  step.performed,
  planText(step.plan),
  step.outcome ?? null,
  step.error === undefined ? null : JSON.stringify(step.error),
  step.details ?? null,
  step.nextTryAt ?? null,
];

const insert = (transaction: Transaction, run: string, step: StepRow): void =>
  transaction.run(
    `INSERT INTO steps (run, key, kind, state, generation, performed, plan, outcome, error, details, next_try_at, ord)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT ifnull(max(ord), 0) + 1 FROM steps WHERE run = ?))`,
    run,
    step.key,
    step.kind,
    ...changing(step),
    run,
  );

const update = (transaction: Transaction, run: string, step: StepRow): boolean =>
  transaction.get(
    `UPDATE steps SET state = ?, generation = ?, performed = ?, plan = ?, outcome = ?, error = ?, details = ?, next_try_at = ?
     WHERE run = ? AND key = ? RETURNING 1`,
    ...changing(step),
    run,
    step.key,
  ) !== undefined;

/** A step that was performed before is there; each of the two statements costs less than one that does both. */
const put = (transaction: Transaction, run: string, step: StepRow): void => {
  if (!update(transaction, run, step)) insert(transaction, run, step);
};

const named = (step: StepRow) => ({ key: step.key, kind: step.kind, generation: step.generation, performance: step.performed });

/** @param details what people and recovery need to know of the effect before it happens; no secrets */
export const writeIntent = (transaction: Transaction, run: string, step: StepRow, details: object): void => {
  put(transaction, run, step);
  transaction.fact({ kind: 'step.intended', run, data: canonicalJson({ ...named(step), ...details }) });
};

export const writeOutcome = (transaction: Transaction, run: string, step: StepRow, details: object): void => {
  put(transaction, run, step);
  transaction.fact({ kind: 'step.completed', run, data: canonicalJson({ ...named(step), ...details, outcome: decodeJson(step.outcome) }) });
};

type FailedStep = StepRow & { readonly error: ErrorRecord };

export const writeFailure = (transaction: Transaction, run: string, step: FailedStep, details: object): void => {
  put(transaction, run, step);
  transaction.fact({ kind: 'step.failed', run, data: canonicalJson({ ...named(step), ...details, error: step.error }) });
};

/** A failure that is not the last word: the step keeps its intent and waits for its next try. */
export const writeRetry = (transaction: Transaction, run: string, step: FailedStep, details: object): void => {
  put(transaction, run, { ...step, error: undefined });
  const data = { ...named(step), ...details, attempt: step.plan.attempt, error: step.error, nextTryAt: step.nextTryAt };
  transaction.fact({ kind: 'step.retried', run, data: canonicalJson(data) });
};

/** What a performance keeps for the next one; no part of the history. */
export const keepDetails = (transaction: Transaction, step: { readonly run: string; readonly key: string }, details: string): void =>
  transaction.run('UPDATE steps SET details = ? WHERE run = ? AND key = ?', details, step.run, step.key);

/** Once for each history: the facts are asked, because a replay passes the mark again. */
export const noteLongHistory = (
  transaction: Transaction,
  run: Pick<RunRow, 'id' | 'generation'>,
  size: { readonly historyFrom: number; readonly keys: number; readonly keysMax: number },
): void => {
  const { historyFrom, ...keys } = size;
  const isNoted = transaction.get(
    "SELECT 1 FROM facts WHERE run = ? AND kind = 'run.history-long' AND json_extract(data, '$.generation') >= ?",
    run.id,
    historyFrom,
  );
  if (isNoted !== undefined) return;
  transaction.fact({ kind: 'run.history-long', run: run.id, data: canonicalJson({ generation: run.generation, ...keys }) });
};

/** A domain fact takes the place of its step's own fact. */
export const writeDomainFact = (
  transaction: Transaction,
  run: string,
  step: StepRow,
  fact: { readonly kind: string; readonly data: string },
): void => {
  put(transaction, run, step);
  transaction.fact({ ...fact, run });
};
