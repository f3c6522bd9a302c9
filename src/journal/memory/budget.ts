// Limits, what was charged and what is held, per unit. A charge counts for the run and for every run above it (L8).
import type { Amounts } from '../port.ts';
import { changeRow, putRun, runOf } from './rows.ts';
import type { MemoryState } from './state.ts';

const units = (...amounts: readonly Amounts[]): readonly string[] => [...new Set(amounts.flatMap((one) => Object.keys(one)))];

const sum = (a: Amounts, b: Amounts): Amounts => Object.fromEntries(units(a, b).map((unit) => [unit, (a[unit] ?? 0) + (b[unit] ?? 0)]));

/** A run and all above it. */
const lineage = (state: MemoryState, run: string): readonly string[] => {
  const { parent } = runOf(state, run).row;
  return parent === undefined ? [run] : [run, ...lineage(state, parent.run)];
};

const addReserved = (state: MemoryState, run: string, amounts: Amounts): void => {
  for (const id of lineage(state, run)) {
    const above = runOf(state, id);
    putRun(state, { ...above, reserved: sum(above.reserved, amounts) });
  }
};

const negative = (amounts: Amounts): Amounts => Object.fromEntries(Object.entries(amounts).map(([unit, amount]) => [unit, -amount]));

/** Limit less spent less reserved, the least along the line. */
export const remaining = (state: MemoryState, run: string): Amounts => {
  const left: Record<string, number> = {};
  for (const id of lineage(state, run)) {
    const { row, reserved } = runOf(state, id);
    for (const [unit, limit] of Object.entries(row.budget)) {
      left[unit] = Math.min(left[unit] ?? Infinity, limit - (row.spent[unit] ?? 0) - (reserved[unit] ?? 0));
    }
  }
  return left;
};

/** The unit that is overdrawn. What is held is not spent yet. */
export const overdrawn = (state: MemoryState, run: string): string | undefined => {
  for (const id of lineage(state, run)) {
    const { budget, spent } = runOf(state, id).row;
    const unit = Object.keys(budget).find((name) => (spent[name] ?? 0) > (budget[name] ?? Infinity));
    if (unit !== undefined) return unit;
  }
  return undefined;
};

/** Part of a write. @returns false, and holds nothing, when the amounts are not there */
export const reserve = (state: MemoryState, run: string, amounts: Amounts): boolean => {
  const left = remaining(state, run);
  if (Object.entries(amounts).some(([unit, amount]) => amount > (left[unit] ?? Infinity))) return false;
  addReserved(state, run, amounts);
  return true;
};

/** Part of a write: what the run itself holds is used up first. */
export const charge = (state: MemoryState, run: string, amounts: Amounts): void => {
  if (Object.keys(amounts).length === 0) return;
  const { reserved } = runOf(state, run);
  const used = Object.fromEntries(Object.entries(amounts).map(([unit, amount]) => [unit, Math.min(amount, reserved[unit] ?? 0)]));
  addReserved(state, run, negative(used));
  for (const id of lineage(state, run)) changeRow(state, id, { spent: sum(runOf(state, id).row.spent, amounts) });
};

/** Part of a write: an ended run holds nothing. */
export const releaseReserved = (state: MemoryState, run: string): void => addReserved(state, run, negative(runOf(state, run).reserved));
