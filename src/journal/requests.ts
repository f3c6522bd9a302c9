// What any process may ask of the owner of a state home: start a run, hand over a signal, pause or resume a run. A request is rows
// written in one transaction and no fact: the owner (or the next one) sees them, acts, and says so in the chain.
import { type RunId, runId } from '../core/ids.ts';
import { ask, type Request } from './ask.ts';
import { createBlobs } from './blobs.ts';
import { assertName } from './names.ts';
import { encodePayload } from './payload.ts';
import type { RequestSignal, RequestStart, RequestState, SignalReceipt, StartRequest } from './port.ts';
import { textAt } from './rows.ts';
import { storeSignal } from './signal-records.ts';

const reasonLettersMax = 1_000;

const findExisting = (request: Request, { id, dedupeKey }: StartRequest): RunId | undefined => {
  const sql = 'SELECT id FROM runs WHERE id = ? OR (dedupe_key = ? AND ended_at IS NULL) ORDER BY id = ? DESC LIMIT 1';
  const row = request.get(sql, id, dedupeKey, id);
  return row === undefined ? undefined : runId(textAt(row, 'id'));
};

/** @param input JSON text */
const addPending = (request: Request, start: StartRequest, input: string | undefined): void => {
  const { id, handler, version, dedupeKey, priority = 0, labels = {} } = start;
  request.run(
    `INSERT INTO runs (id, loop, version, state, generation, dedupe_key, input, view, started_at, priority, labels)
     VALUES (?, ?, ?, 'pending', 1, ?, ?, '{}', ?, ?, ?)`,
    id,
    handler,
    version,
    dedupeKey,
    input ?? null,
    request.now,
    priority,
    JSON.stringify(labels),
  );
};

/** See `RequestStart`. Makes the journal when there is none. @throws Fault as `ask` says, PAYLOAD_* for the input */
export const requestStart: RequestStart = (stateHome, start) => {
  assertName('The run id', start.id);
  assertName('The dedupe key', start.dedupeKey);
  assertName('The handler', start.handler);
  const pend = (request: Request): ReturnType<RequestStart> => {
    const known = findExisting(request, start);
    if (known !== undefined) return { run: known, existing: true };
    addPending(request, start, encodePayload(createBlobs(stateHome), start.input, `The input of run ${start.id}`));
    return { run: start.id, existing: false };
  };
  return ask(stateHome, { make: true }, pend) ?? { run: start.id, existing: false };
};

/** See `RequestSignal`. @throws Fault as `ask` says, PAYLOAD_* for the payload */
export const requestSignal: RequestSignal = (stateHome, { run, name, payload, dedupeKey, by = '' }) => {
  assertName('The signal', name);
  if (dedupeKey !== undefined) assertName('The dedupe key', dedupeKey);
  const store = (request: Request): SignalReceipt => {
    const text = encodePayload(createBlobs(stateHome), payload, `The payload of signal ${name}`);
    return storeSignal(request, { run, name, payload: text, dedupeKey, by, at: request.now });
  };
  return ask(stateHome, { make: run === '' }, store) ?? { accepted: false, duplicate: false };
};

/** See `RequestState`. The same request twice in a row is one. @throws Fault as `ask` says */
export const requestState: RequestState = (stateHome, run, want, reason) => {
  const store = (request: Request): boolean => {
    if (request.get('SELECT 1 FROM runs WHERE id = ? AND ended_at IS NULL', run) === undefined) return false;
    const last = request.get('SELECT want FROM state_requests WHERE run = ? ORDER BY seq DESC LIMIT 1', run);
    if (last === undefined || textAt(last, 'want') !== want) {
      const cut = reason.slice(0, reasonLettersMax).toWellFormed();
      request.run('INSERT INTO state_requests (run, want, reason, at) VALUES (?, ?, ?, ?)', run, want, cut, request.now);
    }
    return true;
  };
  return ask(stateHome, { make: false }, store) ?? false;
};
