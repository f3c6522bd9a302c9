// What runs may spend and have spent. A charge counts against the run and all its parents, in one transaction (L8):
//
//   remaining  limit - spent - reserved, for each unit with a limit; the smallest along the line of parents
//   reserve    adds to `reserved` of the whole line when every limit still holds
//   charge     adds to `spent` of the whole line, and takes what the run itself had reserved out of `reserved` first
//   end        what a run still has reserved is given back
import { Fault } from '../core/fault.ts';
import type { Queries, Transaction } from './append.ts';
import { decodeJson } from './json.ts';
import type { Amounts } from './port.ts';
import { textAt, textOrNone } from './rows.ts';

interface Account {
  readonly run: string;
  readonly budget: Amounts;
  readonly spent: Amounts;
  readonly reserved: Amounts;
  readonly onLimit: 'park' | 'fail';
}

/** Children of children: far more than anyone nests, and a bound. */
const depthMax = 100;

const unitsMax = 100;

/** @throws Fault AMOUNTS_INVALID for what cannot be counted */
export const assertAmounts = (amounts: Amounts): void => {
  const entries = Object.entries(amounts);
  const isValid = entries.length <= unitsMax && entries.every(([unit, amount]) => unit !== '' && Number.isFinite(amount) && amount >= 0);
  if (isValid) return;
  throw new Fault('AMOUNTS_INVALID', `These amounts cannot be counted: ${JSON.stringify(amounts).slice(0, 200)}.`, {
    hint: 'Give finite numbers that are not negative.',
  });
};

export const plus = (a: Amounts, b: Amounts): Amounts => {
  const sum: Record<string, number> = { ...a };
  for (const [unit, amount] of Object.entries(b)) sum[unit] = (sum[unit] ?? 0) + amount;
  return sum;
};

/** Sums of broken numbers are not exact: what is over by less than this share of the limit is not over. */
const isAbove = (amount: number, limit: number): boolean => amount > limit + Math.abs(limit) * 1e-9 + 1e-12;

/** Never below zero. */
const minus = (a: Amounts, b: Amounts): Amounts => {
  const rest: Record<string, number> = {};
  for (const [unit, amount] of Object.entries(a)) {
    const left = amount - (b[unit] ?? 0);
    if (left > 0) rest[unit] = left;
  }
  return rest;
};

const smaller = (a: Amounts, b: Amounts): Amounts => {
  const both: Record<string, number> = {};
  for (const [unit, amount] of Object.entries(a)) if (b[unit] !== undefined) both[unit] = Math.min(amount, b[unit]);
  return both;
};

/** The run and its parents, from the run upwards. */
const lineOf = (queries: Pick<Queries, 'get'>, run: string): readonly Account[] => {
  const line: Account[] = [];
  for (let id: string | undefined = run; id !== undefined && line.length < depthMax;) {
    const row = queries.get('SELECT parent, budget, spent, reserved, on_limit FROM runs WHERE id = ?', id);
    if (row === undefined) break;
    const amountsAt = (column: string): Amounts => decodeJson(textAt(row, column)) as Amounts;
    const onLimit = textAt(row, 'on_limit') as Account['onLimit'];
    line.push({ run: id, budget: amountsAt('budget'), spent: amountsAt('spent'), reserved: amountsAt('reserved'), onLimit });
    id = textOrNone(row, 'parent');
  }
  return line;
};

const leftOf = ({ budget, spent, reserved }: Account): Amounts => {
  const left: Record<string, number> = {};
  for (const [unit, limit] of Object.entries(budget)) left[unit] = limit - (spent[unit] ?? 0) - (reserved[unit] ?? 0);
  return left;
};

const save = (transaction: Transaction, account: Account): void =>
  transaction.run(
    'UPDATE runs SET spent = ?, reserved = ? WHERE id = ?',
    JSON.stringify(account.spent),
    JSON.stringify(account.reserved),
    account.run,
  );

export const remainingOf = (queries: Pick<Queries, 'get'>, run: string): Amounts => {
  const left: Record<string, number> = {};
  for (const account of lineOf(queries, run)) {
    for (const [unit, amount] of Object.entries(leftOf(account))) left[unit] = Math.min(left[unit] ?? Infinity, amount);
  }
  return left;
};

/** @returns false, and changes nothing, when one limit of the line does not hold */
export const reserveAmounts = (transaction: Transaction, run: string, amounts: Amounts): boolean => {
  const left = remainingOf(transaction, run);
  if (Object.entries(amounts).some(([unit, amount]) => isAbove(amount, left[unit] ?? Infinity))) return false;
  for (const account of lineOf(transaction, run)) save(transaction, { ...account, reserved: plus(account.reserved, amounts) });
  return true;
};

/** A limit that a charge went over. */
export interface Overdraft {
  readonly run: string;
  readonly unit: string;
  readonly limit: number;
  readonly spent: number;
  readonly onLimit: 'park' | 'fail';
}

/** @returns the first limit of the line that is overdrawn by it, from the run upwards */
export const chargeAmounts = (transaction: Transaction, run: string, amounts: Amounts): Overdraft | undefined => {
  const line = lineOf(transaction, run);
  const settled = smaller(amounts, line[0]?.reserved ?? {});
  let over: Overdraft | undefined;
  for (const account of line) {
    const spent = plus(account.spent, amounts);
    save(transaction, { ...account, spent, reserved: minus(account.reserved, settled) });
    for (const [unit, limit] of Object.entries(account.budget)) {
      const isOver = (amounts[unit] ?? 0) > 0 && isAbove(spent[unit] ?? 0, limit);
      if (isOver) over ??= { run: account.run, unit, limit, spent: spent[unit] ?? 0, onLimit: account.onLimit };
    }
  }
  return over;
};

/** Gives back what an ending run still holds. */
export const releaseReserved = (transaction: Transaction, run: string): void => {
  const line = lineOf(transaction, run);
  const held = line[0]?.reserved ?? {};
  if (Object.keys(held).length === 0) return;
  for (const account of line) save(transaction, { ...account, reserved: minus(account.reserved, held) });
};
