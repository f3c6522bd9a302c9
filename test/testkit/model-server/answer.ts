// One HTTP request: read it, find out what it asks for, answer it.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Exchange } from './exchange.ts';
import { closed, sendJson } from './exchange.ts';
import { apiError } from './faults.ts';
import type { Wire } from './neutral.ts';
import { isObject, neutralRequest } from './neutral.ts';
import { pickStep } from './pick.ts';
import { play } from './play.ts';

const bodyBytesMax = 64 * 1024 * 1024;

const wires: readonly (readonly [end: string, wire: Wire])[] = [
  ['/v1/messages', 'anthropic'],
  ['/chat/completions', 'chat'],
  ['/responses', 'responses'],
];

const wireOf = (path: string): Wire | undefined => wires.find(([end]) => path.endsWith(end))?.[1];

const readBody = async (request: IncomingMessage): Promise<Buffer | 'too large'> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += (part as Buffer).length;
    if (bytes <= bodyBytesMax) parts.push(part as Buffer);
  }
  return bytes > bodyBytesMax ? 'too large' : Buffer.concat(parts);
};

// One entry that fits the lists of both providers.
const modelId = 'scripted-model';
const modelNames = { id: modelId, object: 'model', type: 'model', display_name: modelId, owned_by: 'gyre' };
const modelEntry = { ...modelNames, created: 0, created_at: '1970-01-01T00:00:00Z' };
const modelList = { object: 'list', data: [modelEntry], has_more: false, first_id: modelId, last_id: modelId };

/** What agents ask for besides replies: a token count (about four letters a token), the list of models, a sign of life. */
const answerSideRoute = (exchange: Exchange, raw: Buffer): void => {
  const { method, path, headers } = exchange.record;
  if (method === 'POST' && path.endsWith('/count_tokens')) {
    return sendJson(exchange, { status: 200, body: { input_tokens: Math.ceil(raw.length / 4) } });
  }
  if (method === 'GET' && path.endsWith('/models')) return sendJson(exchange, { status: 200, body: modelList });
  if (path === '/') return sendJson(exchange, { status: 200, body: { server: 'scripted model' } });
  const wire = headers['anthropic-version'] === undefined ? 'chat' : 'anthropic';
  sendJson(exchange, apiError(wire, { status: 404, sentence: `The scripted model has no ${method} ${path}` }));
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const handle = async (exchange: Exchange): Promise<void> => {
  const { record } = exchange;
  const raw = await readBody(exchange.request);
  const wire = record.method === 'POST' ? wireOf(record.path) : undefined;
  if (raw === 'too large') return sendJson(exchange, apiError(wire ?? 'chat', { status: 413 }));
  if (wire === undefined) return answerSideRoute(exchange, raw);
  record.body = parseJson(raw.toString('utf8'));
  if (!isObject(record.body)) return sendJson(exchange, apiError(wire, { status: 400, sentence: 'The body is not a JSON object.' }));
  const neutral = neutralRequest(wire, record.body);
  const pick = pickStep(neutral, exchange.scenarios);
  // Unlike a random id it is the same for the same conversation, and unlike a counter it does not come back after a restart.
  const id = createHash('sha256').update(`${record.n} `).update(raw).digest('hex').slice(0, 20);
  await play({ exchange, neutral, pick, id });
};

/**
 * Serves one request to its end. Never throws: a script that breaks, or a tag that names no scenario, is answered with a 400 that
 * says so, because agents do not retry a 400.
 */
export const answer = async (exchange: Exchange): Promise<void> => {
  const { response, record } = exchange;
  try {
    await handle(exchange);
  } catch (error) {
    const sentence = `The script failed: ${error instanceof Error ? error.message : String(error)}`;
    if (response.headersSent) response.destroy();
    else sendJson(exchange, apiError(wireOf(record.path) ?? 'chat', { status: 400, sentence }));
  }
  await closed(response);
  record.ended = response.writableFinished ? 'whole' : 'cut';
};
