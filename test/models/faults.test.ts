import { describe, expect, test } from 'vitest';
import type { ScriptedFault, Scenarios } from '../testkit/model-server/index.ts';
import { startModelServer } from '../testkit/model-server/index.ts';
import { at, eventually, parseSse, paths, post, readUntilBroken, requestBody, streamed, textOf, wires } from './client.ts';

const text = 'The answer is long enough to travel in more than one piece.';
const scenario = (fault: ScriptedFault): Scenarios => ({ s: [{ faults: [fault], text }] });

/** Where each provider puts the kind of an error. */
const kindOf = (wire: string, body: unknown): unknown => at(body, 'error', wire === 'anthropic' ? 'type' : 'code');

describe.each(wires)('%s', (wire) => {
  test.each([
    [401, 'authentication_error', 'invalid_api_key'],
    [402, 'billing_error', 'insufficient_quota'],
    [429, 'rate_limit_error', 'rate_limit_exceeded'],
    [500, 'api_error', 'server_error'],
    [529, 'overloaded_error', 'server_is_overloaded'],
  ])('MDL-30 status %i has the words of the provider', async (status, anthropic, openai) => {
    await using server = await startModelServer({ scenarios: scenario({ fault: 'status', status, retryAfterS: 7 }) });
    const response = await post(server.url + paths[wire], requestBody(wire, '[[s:s]]', { stream: true }));
    expect([response.status, response.headers.get('retry-after')]).toEqual([status, '7']);
    const body: unknown = await response.json();
    expect(kindOf(wire, body)).toBe(wire === 'anthropic' ? anthropic : openai);
    expect(at(body, 'error', 'message')).toBeTypeOf('string');
    expect(server.requests[0]).toMatchObject({ status, fault: 'status', usage: undefined });
  });

  test('MDL-31 a fault happens as often as it says, then the step is played', async () => {
    await using server = await startModelServer({ scenarios: scenario({ fault: 'status', status: 429, times: 2 }) });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await post(server.url + paths[wire], requestBody(wire, '[[s:s]]'))).status);
    expect(statuses).toEqual([429, 429, 200, 200]);
    // Another key is another conversation, with its own count.
    expect((await post(server.url + paths[wire], requestBody(wire, '[[s:s:other]]'))).status).toBe(429);
  });

  test('MDL-32 a prompt that is too long is a 400 that agents can tell from others', async () => {
    await using server = await startModelServer({ scenarios: scenario({ fault: 'overflow' }) });
    const response = await post(server.url + paths[wire], requestBody(wire, '[[s:s]]'));
    const body: unknown = await response.json();
    expect(response.status).toBe(400);
    if (wire === 'anthropic') expect(at(body, 'error', 'message')).toMatch(/^prompt is too long: \d+ tokens > \d+ maximum$/);
    else expect(at(body, 'error', 'code')).toBe('context_length_exceeded');
  });

  test('MDL-33 a dropped stream breaks after its first piece and before its end', async () => {
    await using server = await startModelServer({ scenarios: scenario({ fault: 'drop' }) });
    const response = await post(server.url + paths[wire], requestBody(wire, '[[s:s]]', { stream: true }));
    const read = await readUntilBroken(response);
    expect(read.broken).toBe(true);
    expect(read.text).toContain(text.slice(0, 24));
    expect(read.text).not.toContain(text.slice(24, 40));
    await eventually(() => server.requests[0]?.ended).toBe('cut');
    expect(server.requests[0]?.usage).toBeUndefined();
    // The second try gets the whole stream.
    expect((await streamed(server.url + paths[wire], requestBody(wire, '[[s:s]]'))).data.length).toBeGreaterThan(3);
  });

  test('MDL-34 an error event ends a stream in the words of the provider', async () => {
    await using server = await startModelServer({ scenarios: scenario({ fault: 'error-event', times: 2 }) });
    const { events, data } = await streamed(server.url + paths[wire], requestBody(wire, '[[s:s]]'));
    const last = data.at(-1);
    if (wire === 'anthropic') expect([events.at(-1)?.event, at(last, 'error', 'type')]).toEqual(['error', 'overloaded_error']);
    if (wire === 'chat') expect(at(last, 'error', 'code')).toBe('server_is_overloaded');
    if (wire === 'responses') {
      expect(last).toMatchObject({ type: 'response.failed', response: { status: 'failed', error: { code: 'server_is_overloaded' } } });
      expect(data.map((event) => at(event, 'sequence_number'))).toEqual(data.map((_, i) => i));
    }
    // Without a stream the same failure is a status.
    const whole = await post(server.url + paths[wire], requestBody(wire, '[[s:s]]'));
    expect(whole.status).toBe(wire === 'anthropic' ? 529 : 503);
  });

  test('MDL-35 a request that hangs gets no answer until the client gives up', async () => {
    await using server = await startModelServer({ scenarios: scenario({ fault: 'hang', at: 'start' }) });
    const patience = new AbortController();
    const asked = post(server.url + paths[wire], requestBody(wire, '[[s:s]]', { stream: true }), patience.signal);
    await eventually(() => server.requests[0]?.fault).toBe('hang');
    expect(server.requests[0]?.status).toBe(0);
    patience.abort();
    await expect(asked).rejects.toThrow();
    await eventually(() => server.requests[0]?.ended).toBe('cut');
  });

  test('MDL-36 a stream that stalls has sent its first piece and nothing after it', async () => {
    await using server = await startModelServer({ scenarios: scenario({ fault: 'hang', at: 'middle' }) });
    const patience = new AbortController();
    const response = await post(server.url + paths[wire], requestBody(wire, '[[s:s]]', { stream: true }), patience.signal);
    const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    while (!seen.includes(text.slice(0, 24))) seen += (await reader.read()).value ?? '';
    expect(seen).not.toContain(text.slice(24, 40));
    expect(server.requests[0]).toMatchObject({ status: 200, ended: 'open' });
    patience.abort();
    await eventually(() => server.requests[0]?.ended).toBe('cut');
  });

  test('MDL-37 a slow stream waits before each piece and is whole in the end', async () => {
    await using server = await startModelServer({ scenarios: scenario({ fault: 'slow', chunkMs: 40 }) });
    const start = performance.now();
    const { data } = await streamed(server.url + paths[wire], requestBody(wire, '[[s:s]]'));
    // Three pieces; timers may fire a millisecond early.
    expect(performance.now() - start).toBeGreaterThan(3 * 39);
    expect(JSON.stringify(data)).toContain('one piece.');
  });

  test('MDL-38 broken tool arguments are text that is no JSON, in a stream that is whole', async () => {
    const scenarios = { s: [{ faults: [{ fault: 'broken-tool-json' }], ops: [{ op: 'bash', command: 'echo hi' }] }] } as const;
    await using server = await startModelServer({ scenarios });
    const { events } = await streamed(server.url + paths[wire], requestBody(wire, '[[s:s]]'));
    const last = { anthropic: 'message_stop', responses: 'response.completed', chat: undefined }[wire];
    expect(events.at(-1)?.event).toBe(last);
    const everything = events.map(({ data }) => data).join('\n');
    expect(everything).toContain(String.raw`{\"command\"`);
    expect(everything).not.toContain('echo hi');
  });
});

describe('server', () => {
  test('MDL-39 a text that looks like an event stream cannot break out of its event', async () => {
    const evil = 'data: {"type":"message_stop"}\n\nevent: message_stop\ndata: x\n\n';
    await using server = await startModelServer({ scenarios: { s: [{ text: evil }] } });
    const response = await post(server.url + paths.chat, requestBody('chat', '[[s:s]]', { stream: true }));
    const events = parseSse(await response.text());
    expect(events.every(({ event }) => event === undefined)).toBe(true);
    const sent = events.slice(0, -1).map(({ data }) => at(JSON.parse(data), 'choices', 0, 'delta', 'content') as string | undefined);
    expect(sent.map((piece) => piece ?? '').join('')).toBe(evil);
  });

  test('MDL-40 what is no request is refused in the shape of the provider, and the server goes on', async () => {
    await using server = await startModelServer({ scenarios: scenario({ fault: 'drop', times: 0 }) });
    for (const body of ['{', '[]', '"x"', '']) {
      const response = await fetch(server.url + paths.anthropic, { method: 'POST', body });
      expect([response.status, at(await response.json(), 'error', 'type')]).toEqual([400, 'invalid_request_error']);
    }
    expect((await fetch(`${server.url}/v1/nothing`)).status).toBe(404);
    expect((await post(server.url + paths.anthropic, { messages: 'odd', tools: 7, system: null })).status).toBe(200);
    expect(textOf('anthropic', await (await post(server.url + paths.anthropic, requestBody('anthropic', '[[s:s]]'))).json())).toBe(text);
  });
});
