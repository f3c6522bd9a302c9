// What is written when a run is paused, parked for a person, or goes on. Each function is the work of one write.
import type { Transaction } from './append.ts';
import { canonicalJson } from './chain.ts';
import type { Amounts, Attention, RunRow } from './port.ts';

/** Nothing happens to a run that has ended meanwhile, or waits for a person already. */
export const parkRun = (transaction: Transaction, run: Pick<RunRow, 'id' | 'generation'>, attention: Attention): void => {
  const row = transaction.get("SELECT 1 FROM runs WHERE id = ? AND ended_at IS NULL AND state <> 'needs-attention'", run.id);
  if (row === undefined) return;
  transaction.run("UPDATE runs SET state = 'needs-attention', attention = ? WHERE id = ?", JSON.stringify(attention), run.id);
  transaction.fact({ kind: 'run.parked', run: run.id, data: canonicalJson({ generation: run.generation, ...attention }) });
};

/** @returns whether the run is now paused by this */
export const pauseRun = (transaction: Transaction, run: Pick<RunRow, 'id'>, reason: string): boolean => {
  const row = transaction.get("SELECT generation FROM runs WHERE id = ? AND state IN ('pending', 'running')", run.id);
  if (row === undefined) return false;
  transaction.run("UPDATE runs SET state = 'paused' WHERE id = ?", run.id);
  transaction.fact({ kind: 'run.paused', run: run.id, data: canonicalJson({ generation: row['generation'], reason }) });
  return true;
};

/** Lets a paused or parked run go on: pending, until an execution begins. @returns false for any other run */
export const releaseRun = (
  transaction: Transaction,
  run: Pick<RunRow, 'id'>,
  release: { readonly why: string; readonly budget?: Amounts },
): boolean => {
  const row = transaction.get("SELECT generation, state FROM runs WHERE id = ? AND state IN ('paused', 'needs-attention')", run.id);
  if (row === undefined) return false;
  transaction.run("UPDATE runs SET state = 'pending', attention = NULL WHERE id = ?", run.id);
  const { why, budget } = release;
  if (budget !== undefined) transaction.run('UPDATE runs SET budget = ? WHERE id = ?', JSON.stringify(budget), run.id);
  const data = { generation: row['generation'], from: row['state'], why, ...(budget === undefined ? {} : { budget }) };
  transaction.fact({ kind: 'run.released', run: run.id, data: canonicalJson(data) });
  return true;
};
