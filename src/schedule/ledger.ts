// States and ends of triggers in the registers; W3 and W4 as writes. One process at a time owns a journal, so nobody else writes here.

import type { EpochMs } from '../core/ids.ts';
import { deliveriesCount, deliveryAgeMs, recordsKeptCount } from './limits.ts';
import type { Registers, TriggerState, WindowRecord } from './port.ts';
import { triggerKey } from './window-id.ts';

export interface KeyedRecord {
  readonly key: string;
  readonly record: WindowRecord;
}

export interface LedgerEntry {
  readonly state: TriggerState;
  readonly ends?: readonly KeyedRecord[];
  /** Records to change or to take back; W5. */
  readonly changed?: readonly { readonly key: string; readonly value: WindowRecord | undefined }[];
  /** Ids of deliveries taken in, remembered against replay. */
  readonly deliveries?: readonly string[];
  /** Notices to put or (`undefined`) to remove. */
  readonly notices?: readonly { readonly key: string; readonly value: unknown }[];
}

/** What is kept of one trigger. */
export interface Ledger {
  readonly key: string;
  state(): TriggerState | undefined;
  /** One transaction. */
  write(entry: LedgerEntry, now: EpochMs): Promise<void>;
  /** Records whose last window is after an instant. */
  endedAfter(instant: EpochMs): readonly KeyedRecord[];
  has(window: string): boolean;
  hasDelivery(id: string): boolean;
}

/** So many go at once, so that not every write has to look for the oldest. */
const prunedCount = 50;

interface Kept {
  readonly key: string;
  readonly at: number;
}

export const createLedger = (registers: Registers, loop: string, trigger: string): Ledger => {
  const key = triggerKey(loop, trigger);
  const prefix = `${key}/`;
  let state = registers.get('triggers', key)?.value as TriggerState | undefined;
  const records = new Map<string, WindowRecord>(
    registers.list('windows', { prefix }).map((entry) => [entry.key, entry.value as WindowRecord]),
  );
  /** At least the end of the last window that has one; most questions are about instants after it. */
  let newest = [...records.values()].reduce((last, { to }) => Math.max(last, to), 0);
  const deliveries = new Map<string, number>(
    registers.list('deliveries', { prefix }).map((entry) => [entry.key, (entry.value as { readonly at: number }).at]),
  );

  /** Keys that have to go for those that come: the oldest above the bound. */
  const above = (kept: readonly Kept[], most: number): readonly string[] =>
    kept.length <= most
      ? []
      : kept
          .toSorted((a, b) => a.at - b.at)
          .slice(0, kept.length - most)
          .map((entry) => entry.key);

  return {
    key,
    state: () => state,
    write: async (entry, now) => {
      const changed = [...(entry.ends ?? []).map((end) => ({ key: end.key, value: end.record })), ...(entry.changed ?? [])];
      const oldRecords =
        records.size + changed.length <= recordsKeptCount
          ? []
          : above(
              [...records].map(([name, record]) => ({ key: name, at: record.to })),
              recordsKeptCount - prunedCount,
            );
      const taken = (entry.deliveries ?? []).map((id) => `${prefix}${id}`);
      const oldDeliveries =
        taken.length === 0
          ? []
          : [
              ...[...deliveries].filter(([, at]) => now - at > deliveryAgeMs).map(([name]) => name),
              ...above(
                [...deliveries].map(([name, at]) => ({ key: name, at })),
                deliveriesCount - taken.length,
              ),
            ];
      const puts = new Map<string, { readonly register: string; readonly key: string; readonly value: unknown }>();
      const put = (register: string, name: string, value: unknown): void => {
        puts.set(`${register}/${name}`, { register, key: name, value });
      };
      put('triggers', key, entry.state);
      for (const name of oldRecords) put('windows', name, undefined);
      for (const change of changed) put('windows', change.key, change.value);
      for (const name of oldDeliveries) put('deliveries', name, undefined);
      for (const name of taken) put('deliveries', name, { at: now });
      for (const notice of entry.notices ?? []) put('notices', notice.key, notice.value);
      await registers.put([...puts.values()]);
      ({ state } = entry);
      for (const { register, key: name, value } of puts.values()) {
        if (register === 'windows') {
          if (value === undefined) records.delete(name);
          else {
            records.set(name, value as WindowRecord);
            newest = Math.max(newest, (value as WindowRecord).to);
          }
        }
        if (register === 'deliveries') {
          if (value === undefined) deliveries.delete(name);
          else deliveries.set(name, now);
        }
      }
    },
    endedAfter: (instant) =>
      newest <= instant ? [] : [...records].filter(([, record]) => record.to > instant).map(([name, record]) => ({ key: name, record })),
    has: (window) => records.has(window),
    hasDelivery: (id) => deliveries.has(`${prefix}${id}`),
  };
};
