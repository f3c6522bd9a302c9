// What the journal says, fact by fact as it is committed: the simulator's own reading of it, beside the engine's rows.
import type { DatabaseSync } from 'node:sqlite';

export interface LedgerRun {
  readonly id: string;
  /** `task` or `tick`. */
  readonly handler: string;
  readonly dedupeKey: string;
  generation: number;
  isOpen: boolean;
  /** How often each generation ended. */
  readonly ends: Map<number, number>;
  /** Steps with a recorded outcome. */
  readonly completed: Set<string>;
  /** Outcomes of the steps that read a session. */
  readonly sessions: Map<string, unknown>;
  starts: number;
}

export interface LedgerFact {
  readonly seq: number;
  readonly kind: string;
  readonly run: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Ledger {
  readonly runs: ReadonlyMap<string, LedgerRun>;
  /** Facts read so far. */
  count(): number;
  /** Reads what was committed since the last reading; tells each fact after it was applied. */
  read(told: (fact: LedgerFact) => void): void;
}

const sessionKey = /^a\d+\/session$/;

export const createLedger = (db: DatabaseSync): Ledger => {
  const runs = new Map<string, LedgerRun>();
  const next = db.prepare('SELECT seq, kind, run, data FROM facts WHERE seq > ? ORDER BY seq');
  let seq = 0;
  let facts = 0;

  const apply = ({ kind, run, data }: LedgerFact): void => {
    const known = runs.get(run);
    switch (kind) {
      case 'run.started':
        if (known === undefined)
          runs.set(run, {
            id: run,
            handler: String(data['loop']),
            dedupeKey: String(data['dedupeKey']),
            generation: 1,
            isOpen: true,
            ends: new Map(),
            completed: new Set(),
            sessions: new Map(),
            starts: 1,
          });
        else known.starts += 1;
        return;
      case 'run.reopened':
        if (known === undefined) return;
        known.generation = Number(data['generation']);
        known.isOpen = true;
        return;
      case 'run.ended': {
        if (known === undefined) return;
        const generation = Number(data['generation']);
        known.ends.set(generation, (known.ends.get(generation) ?? 0) + 1);
        known.isOpen = false;
        return;
      }
      case 'step.completed': {
        const key = String(data['key']);
        known?.completed.add(data['kind'] === 'cleanup' ? `${key}@${String(data['generation'])}` : key);
        if (sessionKey.test(key)) known?.sessions.set(key, data['outcome']);
        return;
      }
    }
  };

  return {
    runs,
    count: () => facts,
    read: (told) => {
      for (const row of next.all(seq)) {
        seq = Number(row['seq']);
        facts += 1;
        const fact = {
          seq,
          kind: String(row['kind']),
          run: String(row['run']),
          data: JSON.parse(String(row['data'])) as LedgerFact['data'],
        };
        apply(fact);
        told(fact);
      }
    },
  };
};
