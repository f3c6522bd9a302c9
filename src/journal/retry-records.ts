import { Fault } from '../core/fault.ts';
import type { Transaction } from './append.ts';
import { canonicalJson } from './chain.ts';
import { decodeJson } from './json.ts';
import type { RunRow } from './port.ts';
import { numberAt, textAt, textOrNone } from './rows.ts';
import { findRun, openAgain, refusalToReopen } from './run-records.ts';
import { releaseRun } from './park-records.ts';

const unknownRun = (run: string): Fault => new Fault('RUN_UNKNOWN', `There is no run ${run} in this journal.`, { data: { run } });

/** Opens an ended run again without the steps that came with or after one, by the order of their first intents. */
export const retryRunFrom = (transaction: Transaction, id: string, stepKey: string): RunRow | Fault => {
  const run = findRun(transaction, id);
  const refusal = refusalToReopen(transaction, id, run);
  if (refusal !== undefined || run === undefined) return refusal ?? unknownRun(id);
  const step = transaction.get('SELECT ord FROM steps WHERE run = ? AND key = ?', id, stepKey);
  if (step === undefined) {
    return new Fault('STEP_UNKNOWN', `Run ${id} has no step ${JSON.stringify(stepKey)}.`, { data: { run: id, step: stepKey } });
  }
  transaction.run(
    "UPDATE steps SET state = 'dropped', outcome = NULL, error = NULL, next_try_at = NULL WHERE run = ? AND ord >= ?",
    id,
    numberAt(step, 'ord'),
  );
  const row = transaction.get('SELECT input FROM runs WHERE id = ?', id);
  const input = row === undefined ? undefined : textOrNone(row, 'input');
  openAgain(transaction, run, { version: run.version, input, state: 'pending', from: stepKey });
  return findRun(transaction, id) ?? unknownRun(id);
};

/** Answers for a step whose end nobody knows: with its outcome, or with leave to perform it again. */
export const decideStep = (
  transaction: Transaction,
  asked: {
    readonly run: string;
    readonly step: string;
    /** JSON text; undefined: perform it again. */ readonly outcome: { readonly text: string | undefined } | undefined;
  },
): Fault | undefined => {
  const { run: id, step, outcome } = asked;
  const run = findRun(transaction, id);
  if (run === undefined) return unknownRun(id);
  const row = transaction.get("SELECT kind, performed FROM steps WHERE run = ? AND key = ? AND state = 'intended'", id, step);
  if (run.attention?.code !== 'STEP_UNKNOWN' || run.attention.step !== step || row === undefined) {
    return new Fault('STEP_NOT_ASKED', `Run ${id} does not ask about a step ${JSON.stringify(step)}.`, { data: { run: id, step } });
  }
  const state = outcome === undefined ? 'dropped' : 'done';
  transaction.run(
    'UPDATE steps SET state = ?, generation = ?, outcome = ? WHERE run = ? AND key = ?',
    state,
    run.generation,
    outcome?.text ?? null,
    id,
    step,
  );
  const named = { key: step, kind: textAt(row, 'kind'), generation: run.generation, performance: numberAt(row, 'performed') };
  if (outcome === undefined)
    transaction.fact({ kind: 'step.decided', run: id, data: canonicalJson({ ...named, decision: 'perform-again' }) });
  else
    transaction.fact({
      kind: 'step.completed',
      run: id,
      data: canonicalJson({ ...named, decided: true, outcome: decodeJson(outcome.text) }),
    });
  releaseRun(transaction, run, { why: `${step} was decided` });
  return undefined;
};
