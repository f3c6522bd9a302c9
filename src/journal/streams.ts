// Streams: what a run tells while it works (progress, output of its agent). At least once: a replay tells it again. Outside the chain of
// facts and bounded per run: when there is too much, the oldest events of the run go first, and a note in their place says how many.
import { Fault } from '../core/fault.ts';
import { epochMs } from '../core/ids.ts';
import type { Queries, Transaction } from './append.ts';
import { decodeJson, jsonText } from './json.ts';
import type { StreamEvent } from './port.ts';
import { numberAt, type Row, textAt } from './rows.ts';

/** Most bytes (UTF-8) of one event. */
const eventBytesMax = 64 * 1024;
/** Most events of one answer; ask again with `afterSeq` for more. */
const answerMax = 10_000;

/** What one run may keep in all its streams together. */
export interface StreamLimits {
  readonly eventsMax: number;
  readonly bytesMax: number;
}

export const streamLimits: StreamLimits = { eventsMax: 10_000, bytesMax: 16 * 1024 * 1024 };

/** @returns JSON text; `null` for `undefined` @throws Fault PAYLOAD_NOT_JSON, PAYLOAD_TOO_LARGE */
export const encodeEvent = (event: unknown, stream: string): string => {
  const text = jsonText(event, `An event of stream ${stream}`) ?? 'null';
  const bytes = Buffer.byteLength(text);
  if (bytes <= eventBytesMax) return text;
  throw new Fault(
    'PAYLOAD_TOO_LARGE',
    `An event of stream ${stream} takes ${bytes} bytes; a stream takes at most ${eventBytesMax} at once.`,
    {
      hint: 'Split it, or write it to a file and emit the path.',
      data: { bytes, bytesMax: eventBytesMax },
    },
  );
};

/** @param event JSON text */
export const writeEvent = (
  transaction: Transaction,
  event: { readonly run: string; readonly stream: string; readonly event: string },
): void =>
  transaction.run(
    'INSERT INTO streams (run, stream, at, event) VALUES (?, ?, ?, ?)',
    event.run,
    event.stream,
    transaction.now,
    event.event,
  );

/** What stands, in its stream, for events that were taken away. JSON text. */
export const dropNote = (count: number): string => JSON.stringify({ $dropped: count } satisfies Note);

interface Note {
  readonly $dropped: number;
}

const isNote = (event: unknown): event is Note =>
  typeof event === 'object' &&
  event !== null &&
  '$dropped' in event &&
  typeof event.$dropped === 'number' &&
  Object.keys(event).length === 1;

/** How many events a row stands for. */
const weightOf = (row: Row): number => {
  const event = decodeJson(textAt(row, 'event'));
  return isNote(event) ? event.$dropped : 1;
};

/** Takes the oldest events of a run away until a quarter of its room is free again. */
export const trimStreams = (transaction: Transaction, run: string, limits: StreamLimits = streamLimits): void => {
  const total = transaction.get('SELECT count(*) AS events, ifnull(sum(octet_length(event)), 0) AS bytes FROM streams WHERE run = ?', run);
  if (total === undefined || (numberAt(total, 'events') <= limits.eventsMax && numberAt(total, 'bytes') <= limits.bytesMax)) return;
  const cut = transaction.get(
    `SELECT seq FROM (
       SELECT seq, row_number() OVER newest AS events, sum(octet_length(event)) OVER newest AS bytes FROM streams WHERE run = ?
       WINDOW newest AS (ORDER BY seq DESC)
     ) WHERE events > ? OR bytes > ? ORDER BY seq DESC LIMIT 1`,
    run,
    Math.floor(limits.eventsMax * 0.75),
    Math.floor(limits.bytesMax * 0.75),
  );
  if (cut === undefined) return;
  const dropped = new Map<string, { seq: number; count: number }>();
  for (const row of transaction.all(
    'SELECT seq, stream, event FROM streams WHERE run = ? AND seq <= ? ORDER BY seq',
    run,
    numberAt(cut, 'seq'),
  )) {
    const known = dropped.get(textAt(row, 'stream'));
    dropped.set(textAt(row, 'stream'), { seq: numberAt(row, 'seq'), count: (known?.count ?? 0) + weightOf(row) });
  }
  transaction.run('DELETE FROM streams WHERE run = ? AND seq <= ?', run, numberAt(cut, 'seq'));
  for (const [stream, { seq, count }] of dropped) {
    const sql = 'INSERT INTO streams (seq, run, stream, at, event) VALUES (?, ?, ?, ?, ?)';
    transaction.run(sql, seq, run, stream, transaction.now, dropNote(count));
  }
};

/** See `JournalReader.streamNews`. */
export const streamNews = (queries: Queries, afterSeq?: number): { readonly newest: number; readonly runs: readonly string[] } => {
  if (afterSeq === undefined) {
    const newest = queries.get('SELECT ifnull(max(seq), 0) AS seq FROM streams');
    return { newest: newest === undefined ? 0 : numberAt(newest, 'seq'), runs: [] };
  }
  const rows = queries.all('SELECT seq, run FROM streams WHERE seq > ? ORDER BY seq LIMIT ?', afterSeq, answerMax);
  const last = rows.at(-1);
  return { newest: last === undefined ? afterSeq : numberAt(last, 'seq'), runs: [...new Set(rows.map((row) => textAt(row, 'run')))] };
};

/** Events of one stream in order, at most 10,000. An event `{"$dropped": n}` stands for n events that were taken away. */
export const readStream = (
  queries: Queries,
  place: { readonly run: string; readonly stream: string; readonly afterSeq: number },
): readonly StreamEvent[] =>
  queries
    .all(
      'SELECT seq, at, event FROM streams WHERE run = ? AND stream = ? AND seq > ? ORDER BY seq LIMIT ?',
      place.run,
      place.stream,
      place.afterSeq,
      answerMax,
    )
    .map((row) => ({ seq: numberAt(row, 'seq'), at: epochMs(numberAt(row, 'at')), event: decodeJson(textAt(row, 'event')) }));
