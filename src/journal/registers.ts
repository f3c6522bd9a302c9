// Registers: small tables of current values that the engine's owner keeps beside the facts. Every change is a fact as well.
//
//  1. A put is all or nothing: when one `expect` does not hold, nothing of it is written.
//  2. The revision of a key counts from 1 and goes on counting after the key was removed, so that `expect` never takes a new entry for
//     the old one. A removed key keeps a row without a value for that; purging takes old ones away.
import { Defect } from '../core/fault.ts';
import { epochMs } from '../core/ids.ts';
import type { Queries, Transaction } from './append.ts';
import { canonicalJson } from './chain.ts';
import { decodeJson, encodeJson } from './json.ts';
import { assertName } from './names.ts';
import type { RegisterChange, RegisterEntry, RegisterFilter } from './port.ts';
import { numberAt, type Row, textAt } from './rows.ts';

/** Most entries of one put. */
const putMax = 1_000;
/** Most entries of one answer; ask again with `after` for more. */
const entriesMax = 10_000;

/** What stands for the value of a removed key: no JSON text is empty. */
const removed = '';

/** A change whose value is JSON text, and `removed` where the key is taken away. */
interface EncodedChange {
  readonly register: string;
  readonly key: string;
  readonly value: string;
  readonly expect: number | undefined;
}

/**
 * Checks and encodes the changes of one put.
 * @throws Fault PAYLOAD_NOT_JSON, PAYLOAD_TOO_LARGE
 * @throws Defect for a name that is none, for a key that comes twice, for more than 1,000 changes
 */
export const encodeChanges = (changes: readonly RegisterChange[]): readonly EncodedChange[] => {
  if (changes.length > putMax) throw new Defect(`A put of ${changes.length} changes is larger than ${putMax}.`);
  const seen = new Set<string>();
  return changes.map(({ register, key, value, expect }) => {
    assertName('The register', register);
    assertName('The key of a register', key);
    const both = JSON.stringify([register, key]);
    if (seen.has(both)) throw new Defect(`The key ${JSON.stringify(key)} of register ${register} comes twice in one put.`);
    seen.add(both);
    return { register, key, value: encodeJson(value, `The value of ${key} in register ${register}`) ?? removed, expect };
  });
};

interface Current {
  readonly revision: number;
  readonly exists: boolean;
}

const currentOf = (queries: Pick<Queries, 'get'>, { register, key }: EncodedChange): Current => {
  const row = queries.get("SELECT revision, value <> '' AS present FROM registers WHERE register = ? AND key = ?", register, key);
  return row === undefined
    ? { revision: 0, exists: false }
    : { revision: numberAt(row, 'revision'), exists: numberAt(row, 'present') === 1 };
};

const holds = ({ revision, exists }: Current, expect: number | undefined): boolean =>
  expect === undefined || (exists ? revision === expect : expect === 0);

/** The work of one write. @returns false, with nothing written, when an `expect` did not hold */
export const putRegisters = (transaction: Transaction, changes: readonly EncodedChange[]): boolean => {
  const found = changes.map((change) => ({ change, current: currentOf(transaction, change) }));
  if (!found.every(({ change, current }) => holds(current, change.expect))) return false;
  for (const { change, current } of found) {
    const { register, key, value } = change;
    // Removing what is not there changes nothing, so there is nothing to say.
    if (value === removed && !current.exists) continue;
    const revision = current.revision + 1;
    transaction.run(
      `INSERT INTO registers (register, key, value, revision, changed_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (register, key) DO UPDATE SET value = excluded.value, revision = excluded.revision, changed_at = excluded.changed_at`,
      register,
      key,
      value,
      revision,
      transaction.now,
    );
    const data = canonicalJson({ register, key, revision, value: value === removed ? undefined : decodeJson(value) });
    transaction.fact({ kind: 'register.changed', run: '', data });
  }
  return true;
};

const entryOfRow = (row: Row): RegisterEntry => ({
  key: textAt(row, 'key'),
  value: decodeJson(textAt(row, 'value')),
  revision: numberAt(row, 'revision'),
  changedAt: epochMs(numberAt(row, 'changed_at')),
});

export const findRegisterEntry = (queries: Pick<Queries, 'get'>, register: string, key: string): RegisterEntry | undefined => {
  const row = queries.get("SELECT * FROM registers WHERE register = ? AND key = ? AND value <> ''", register, key);
  return row === undefined ? undefined : entryOfRow(row);
};

const lastCodePoint = 0x10ffff;

/** The first text, in the order of code points, after every text that begins with `prefix`; undefined when there is none. */
const afterPrefix = (prefix: string): string | undefined => {
  const points = Array.from(prefix, (letter) => letter.codePointAt(0) ?? 0);
  while (points.at(-1) === lastCodePoint) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  // The surrogates are no letters.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
};

/**
 * The entries of one register, by key in the order of code points, or those changed last first.
 * @param filter `after` is the key of the last entry already seen, in the same order; `limit` at most 10,000
 */
export const listRegister = (queries: Queries, register: string, filter: RegisterFilter = {}): readonly RegisterEntry[] => {
  const { prefix = '', after, limit = entriesMax, newestFirst = false } = filter;
  const before = afterPrefix(prefix);
  const conditions = ['register = ?', "value <> ''"];
  const values: (string | number)[] = [register];
  const where = (condition: string, ...bound: readonly (string | number)[]): void => {
    conditions.push(condition);
    values.push(...bound);
  };
  if (prefix !== '') where('key >= ?', prefix);
  if (before !== undefined) where('key < ?', before);
  if (after !== undefined && newestFirst) {
    // An entry that is gone meanwhile has no place to go on from: then there is nothing after it.
    where('(changed_at, key) < (SELECT changed_at, key FROM registers WHERE register = ? AND key = ?)', register, after);
  } else if (after !== undefined) {
    where('key > ?', after);
  }
  const order = newestFirst ? 'changed_at DESC, key DESC' : 'key';
  const sql = `SELECT * FROM registers WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ?`;
  return queries.all(sql, ...values, Math.max(0, Math.min(limit, entriesMax))).map((row) => entryOfRow(row));
};
