// Rows of the database as values of the port. SQLite holds the types (STRICT tables), so that a wrong one here is a defect.
import type { SQLOutputValue } from 'node:sqlite';
import { Defect } from '../core/fault.ts';
import { epochMs, runId } from '../core/ids.ts';
import type { ChainLink } from './chain.ts';
import type { ErrorRecord } from './error-record.ts';
import { decodeJson } from './json.ts';
import type { Fact, RunRow, RunState } from './port.ts';

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
    endedAt: row['ended_at'] === null ? undefined : epochMs(numberAt(row, 'ended_at')),
  };
};

export const isOpen = (run: RunRow): boolean => run.state === 'pending' || run.state === 'running';

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

/** `sleep`: waits for an instant. `value`: a recorded clock or chance. `fact`: a domain fact. */
export type StepKind = 'step' | 'spawn' | 'sleep' | 'value' | 'fact' | 'cleanup';

export interface StepRow {
  readonly key: string;
  readonly kind: StepKind;
  readonly state: 'intended' | 'done' | 'failed';
  /** The generation that wrote this state. */
  readonly generation: number;
  /** How often its intent was written. */
  readonly performed: number;
  /** What recovery needs to know of the intent: the instant of a sleep, the job folder of a process. */
  readonly plan: { readonly until?: number; readonly jobDir?: string };
  /** JSON text. */
  readonly outcome: string | undefined;
  readonly error: ErrorRecord | undefined;
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
});
