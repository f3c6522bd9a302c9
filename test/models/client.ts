// Small clients for the tests, written against the public protocols and sharing no code with the server.
import { expect } from 'vitest';

/** Polls until the assertion holds; far longer than it takes, because the machine may be busy. */
export const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });

export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** Splits a whole event stream by the rules of WHATWG HTML, "Server-sent events": blank line ends an event, `field: value` lines. */
export const parseSse = (text: string): readonly SseEvent[] =>
  text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const fields = new Map(
        block.split('\n').map((line): [string, string] => {
          const colon = line.indexOf(':');
          return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
        }),
      );
      return { event: fields.get('event'), data: fields.get('data') ?? '' };
    });

/** Any JSON, walked by key without a type: `at(body, 'usage', 'input_tokens')`. */
export const at = (value: unknown, ...keys: readonly (string | number)[]): unknown =>
  keys.reduce<unknown>((inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined), value);

export const paths = { anthropic: '/v1/messages', responses: '/v1/responses', chat: '/v1/chat/completions' };
export type Wire = keyof typeof paths;
export const wires = Object.keys(paths) as readonly Wire[];

export const post = (url: string, body: unknown, signal?: AbortSignal): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });

/** The least request of each protocol that asks one thing, with one shell tool. */
export const requestBody = (wire: Wire, prompt: string, rest: object = {}): object => {
  const properties = { command: { type: 'string' } };
  const schema = { type: 'object', properties, required: ['command'] };
  const messages = [{ role: 'user', content: prompt }];
  switch (wire) {
    case 'anthropic':
      return { model: 'm', max_tokens: 100, messages, tools: [{ name: 'Bash', input_schema: schema }], ...rest };
    case 'responses':
      return { model: 'm', input: messages, tools: [{ type: 'function', name: 'Bash', parameters: schema }], ...rest };
    case 'chat':
      return { model: 'm', messages, tools: [{ type: 'function', function: { name: 'Bash', parameters: schema } }], ...rest };
  }
};

/** The text of a reply that was not streamed. */
export const textOf = (wire: Wire, body: unknown): unknown => {
  if (wire === 'anthropic') return at(body, 'content', 0, 'text');
  return wire === 'responses' ? at(body, 'output', 0, 'content', 0, 'text') : at(body, 'choices', 0, 'message', 'content');
};

export interface Streamed {
  readonly events: readonly SseEvent[];
  /** Every `data:` as JSON, the closing `[DONE]` left out. */
  readonly data: readonly unknown[];
}

/** Sends with `stream: true` and reads to the end. Rejects when the connection ends before the stream does. */
export const streamed = async (url: string, body: object): Promise<Streamed> => {
  const response = await post(url, { ...body, stream: true });
  const events = parseSse(await response.text());
  return { events, data: events.filter(({ data }) => data !== '[DONE]').map(({ data }): unknown => JSON.parse(data)) };
};

/** Reads what arrives until the stream ends or breaks. */
export const readUntilBroken = async (response: Response): Promise<{ readonly text: string; readonly broken: boolean }> => {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true });
    return { text, broken: false };
  } catch {
    return { text, broken: true };
  }
};
