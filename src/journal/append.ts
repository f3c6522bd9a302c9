import type { SQLInputValue } from 'node:sqlite';
import { Defect } from '../core/fault.ts';
import type { EpochMs } from '../core/ids.ts';
import { type ChainHead, factHash } from './chain.ts';
import { numberAt, type Row, textAt } from './rows.ts';

export interface Queries {
  get(sql: string, ...values: readonly SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: readonly SQLInputValue[]): readonly Row[];
}

/** What the work of a write may do. */
export interface Transaction extends Queries {
  readonly now: EpochMs;
  run(sql: string, ...values: readonly SQLInputValue[]): void;
  /** Appends to the chain. @param entry `data` is canonical JSON text */
  fact(entry: { readonly kind: string; readonly run: string; readonly data: string }): void;
}

/** The end of the chain as the journal keeps it beside the facts. */
export const readHead = (queries: Pick<Queries, 'get'>): ChainHead => {
  const row = queries.get("SELECT value FROM meta WHERE key = 'head'");
  if (row === undefined) throw new Defect('The journal has no head.');
  const [seq = '', hash = ''] = textAt(row, 'value').split(':');
  return { seq: Number(seq), hash };
};

const readTip = (queries: Pick<Queries, 'get'>): ChainHead => {
  const row = queries.get('SELECT seq, hash FROM facts ORDER BY seq DESC LIMIT 1');
  return row === undefined ? readHead(queries) : { seq: numberAt(row, 'seq'), hash: textAt(row, 'hash') };
};

/**
 * The appending side of one open transaction.
 * @returns the transaction, and `seal`, to be called before COMMIT: it notes the new end of the chain
 */
export const beginAppending = (
  base: Queries & Pick<Transaction, 'run'>,
  now: EpochMs,
): { readonly transaction: Transaction; readonly seal: () => void } => {
  const start = readTip(base);
  let head = start;
  return {
    transaction: {
      ...base,
      now,
      fact: ({ kind, run, data }) => {
        const link = { seq: head.seq + 1, at: now, kind, run, data, prev: head.hash };
        const hash = factHash(link);
        const sql = 'INSERT INTO facts (seq, at, kind, run, data, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?)';
        base.run(sql, link.seq, link.at, kind, run, data, link.prev, hash);
        head = { seq: link.seq, hash };
      },
    },
    seal: () => {
      if (head.seq !== start.seq) base.run("UPDATE meta SET value = ? WHERE key = 'head'", `${head.seq}:${head.hash}`);
    },
  };
};
