// Rows of the database as values of the port. SQLite holds the types (STRICT tables), so that a wrong one here is a defect.
import type { SQLOutputValue } from 'node:sqlite';
import { Defect } from '../core/fault.ts';
import { type EpochMs, epochMs, runId } from '../core/ids.ts';
import type { ChainLink } from './chain.ts';
import type { ErrorRecord } from './error-record.ts';
import { decodeJson } from './json.ts';
import type { Amounts, Attention, Fact, RunRow, RunState, WaitRow } from './port.ts';

export type Row = Readonly<Record<string, SQLOutputValue>>;

export const textAt = (row: Row, column: string): string => {
  const value = row[column];
  if (typeof value !== 'string') throw new Defect(`Column ${column} of the journal holds ${typeof value} where text was expected.`);
  return value;
};

export const numberAt = (row: Row, column: string): number => {
  const value = row[column];
  if (typeof value !== 'number') throw new Defect(`Column ${column} of the journal holds ${typeof value} where a number was expected.`);
  return value;
};

export const textOrNone = (row: Row, column: string): string | undefined => (row[column] === null ? undefined : textAt(row, column));

/** What `runOfRow` reads, for a SELECT from `runs`. */
export const runColumns = `runs.*, (SELECT json_group_array(json_object('key', key, 'kind', kind, 'name', name, 'until', until,
  'describe', describe)) FROM waits WHERE waits.run = runs.id) AS waits`;

/** The same for a journal of schema 1, which a reader does not change. */
export const firstRunColumns = `runs.*, '[]' AS waits, NULL AS parent, 0 AS priority, '{}' AS labels, NULL AS deadline_at, '{}' AS budget,
  '{}' AS spent, NULL AS attention, NULL AS purged_at`;

interface StoredWait {
  readonly key: string;
  readonly kind: WaitRow['on'];
  readonly name: string | null;
  readonly until: number | null;
  readonly describe: string | null;
}

const waitOf = ({ key, kind, name, until, describe }: StoredWait): WaitRow => ({
  key,
  on: kind,
  ...(until === null ? {} : { until: epochMs(until) }),
  ...(name === null ? {} : { signal: name }),
  ...(describe === null ? {} : { describe }),
});

const instantOrNone = (row: Row, column: string): EpochMs | undefined =>
  row[column] === null ? undefined : epochMs(numberAt(row, column));

const parentOf = (row: Row): RunRow['parent'] => {
  const parent = textOrNone(row, 'parent');
  return parent === undefined ? undefined : { run: runId(parent), key: textAt(row, 'parent_key') };
};

/** @param row of a SELECT of `runColumns` */
export const runOfRow = (row: Row): RunRow => {
  const error = decodeJson(textOrNone(row, 'error')) as ErrorRecord | undefined;
  return {
    id: runId(textAt(row, 'id')),
    loop: textAt(row, 'loop'),
    version: numberAt(row, 'version'),
    state: textAt(row, 'state') as RunState,
    generation: numberAt(row, 'generation'),
    dedupeKey: textAt(row, 'dedupe_key'),
    input: decodeJson(textOrNone(row, 'input')),
    view: decodeJson(textAt(row, 'view')) as Readonly<Record<string, unknown>>,
    output: decodeJson(textOrNone(row, 'output')),
    error,
    startedAt: epochMs(numberAt(row, 'started_at')),
    endedAt: instantOrNone(row, 'ended_at'),
    parent: parentOf(row),
    priority: numberAt(row, 'priority'),
    labels: decodeJson(textAt(row, 'labels')) as Readonly<Record<string, string>>,
    deadlineAt: instantOrNone(row, 'deadline_at'),
    budget: decodeJson(textAt(row, 'budget')) as Amounts,
    spent: decodeJson(textAt(row, 'spent')) as Amounts,
    waits: (decodeJson(textAt(row, 'waits')) as readonly StoredWait[]).map((wait) => waitOf(wait)),
    attention: decodeJson(textOrNone(row, 'attention')) as Attention | undefined,
    purgedAt: instantOrNone(row, 'purged_at'),
  };
};

export const linkOfRow = (row: Row): ChainLink & { readonly hash: string } => ({
  seq: numberAt(row, 'seq'),
  at: numberAt(row, 'at'),
  kind: textAt(row, 'kind'),
  run: textAt(row, 'run'),
  data: textAt(row, 'data'),
  prev: textAt(row, 'prev'),
  hash: textAt(row, 'hash'),
});

export const factOfRow = (row: Row): Fact => {
  const { seq, at, kind, run, data, hash } = linkOfRow(row);
  return { seq, at: epochMs(at), kind, run, data: decodeJson(data), hash };
};

/**
 * `sleep`: waits for an instant. `wait`: for a signal. `value`: something taken once (a clock, chance, a version). `fact`: a domain fact.
 * `map`, `race`: what their branches came to. `budget`: a reservation or a charge.
 */
export type StepKind = 'step' | 'spawn' | 'sleep' | 'value' | 'fact' | 'cleanup' | 'wait' | 'child' | 'map' | 'race' | 'budget';

export interface StepRow {
  readonly key: string;
  readonly kind: StepKind;
  /** `dropped`: a person wants it performed again, whatever is recorded. */
  readonly state: 'intended' | 'done' | 'failed' | 'dropped';
  /** The generation that wrote this state. */
  readonly generation: number;
  /** How often its intent was written. */
  readonly performed: number;
  /** What recovery needs to know of the intent: the end of a sleep or wait, the job folder of a process, which try of a step it is. */
  readonly plan: { readonly until?: number; readonly jobDir?: string; readonly attempt?: number };
  /** JSON text. */
  readonly outcome: string | undefined;
  readonly error: ErrorRecord | undefined;
  /** JSON text: what its performances kept with `heartbeat`. */
  readonly details: string | undefined;
  /** When it is tried again; `undefined` unless it waits for a retry. */
  readonly nextTryAt: number | undefined;
}

export const stepOfRow = (row: Row): StepRow => ({
  key: textAt(row, 'key'),
  kind: textAt(row, 'kind') as StepKind,
  state: textAt(row, 'state') as StepRow['state'],
  generation: numberAt(row, 'generation'),
  performed: numberAt(row, 'performed'),
  plan: decodeJson(textOrNone(row, 'plan') ?? '{}') as StepRow['plan'],
  outcome: textOrNone(row, 'outcome'),
  error: decodeJson(textOrNone(row, 'error')) as ErrorRecord | undefined,
  details: textOrNone(row, 'details'),
  nextTryAt: row['next_try_at'] === null ? undefined : numberAt(row, 'next_try_at'),
});
