// How the model finds and replaces its rows.
import { Defect } from '../../core/fault.ts';
import type { RunRow } from '../port.ts';
import type { MemoryRun, MemoryState, MemoryStep } from './state.ts';

export const isEnded = (run: MemoryRun): boolean => run.row.endedAt !== undefined;

export const runOf = (state: MemoryState, id: string): MemoryRun => {
  const run = state.runs.get(id);
  if (run === undefined) throw new Defect(`Run ${id} is not in the journal.`);
  return run;
};

export const putRun = (state: MemoryState, run: MemoryRun): void => void state.runs.set(run.row.id, run);

export const changeRow = (state: MemoryState, id: string, change: Partial<MemoryRun['row']>): void => {
  const run = runOf(state, id);
  putRun(state, { ...run, row: { ...run.row, ...change } });
};

/** A run as the port shows it. Readers get a copy: what they do with it changes nothing here. */
export const rowOf = (state: MemoryState, run: MemoryRun): RunRow =>
  structuredClone({ ...run.row, waits: [...(state.waits.get(run.row.id)?.values() ?? [])] });

export const stepsOf = (state: MemoryState, run: string): Map<string, MemoryStep> => {
  const known = state.steps.get(run) ?? new Map<string, MemoryStep>();
  state.steps.set(run, known);
  return known;
};

export const openByDedupeKey = (state: MemoryState, dedupeKey: string): MemoryRun | undefined =>
  [...state.runs.values()].find((run) => !isEnded(run) && run.row.dedupeKey === dedupeKey);

export const childrenOf = (state: MemoryState, id: string): readonly MemoryRun[] =>
  [...state.runs.values()].filter((run) => run.row.parent?.run === id);
