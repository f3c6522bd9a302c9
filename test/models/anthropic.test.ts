import { describe, expect, test } from 'vitest';
import { startModelServer } from '../testkit/model-server/index.ts';
import { at, post, requestBody, streamed } from './client.ts';

const scenarios = {
  rich: [
    {
      thinking: 'A thought that is long enough to travel in more than one piece.',
      text: 'Grüße 👋🏽 — a text that is long enough to travel in more than one piece.',
      ops: [
        { op: 'bash', command: 'echo one' },
        { op: 'bash', command: 'echo "zwei ü"' },
      ],
      usage: { input: 11, cacheRead: 22, cacheWrite: 33, output: 44 },
    },
    { text: 'Both ran.' },
  ],
  length: [{ text: 'cut', stop: 'length' }],
  refusal: [{ text: 'no', stop: 'refusal' }],
  empty: [{}],
} as const;

describe('Anthropic Messages', () => {
  test('MDL-01 a stream has its events in the documented order', async () => {
    await using server = await startModelServer({ scenarios });
    const { events, data } = await streamed(`${server.url}/v1/messages`, requestBody('anthropic', '[[s:rich]]'));
    expect(events.every(({ event }, i) => event === at(data[i], 'type'))).toBe(true);
    const order = events.map(({ event }) => event).filter((event, i, all) => event !== all[i - 1]);
    const block = ['content_block_start', 'content_block_delta', 'content_block_stop'];
    expect(order).toEqual(['message_start', 'ping', ...block, ...block, ...block, ...block, 'message_delta', 'message_stop']);
    // Deltas belong to the block that is open.
    let open: unknown;
    for (const event of data) {
      if (at(event, 'type') === 'content_block_start') open = at(event, 'index');
      if (at(event, 'type') === 'content_block_delta') expect(at(event, 'index')).toBe(open);
    }
  });

  test('MDL-02 the pieces of a stream add up to the reply that is not streamed', async () => {
    await using server = await startModelServer({ scenarios });
    const url = `${server.url}/v1/messages`;
    const { data } = await streamed(url, requestBody('anthropic', '[[s:rich]]'));
    const whole: unknown = await (await post(url, requestBody('anthropic', '[[s:rich]]'))).json();
    const blocks: Record<string, string>[] = [];
    for (const event of data) {
      if (at(event, 'type') === 'content_block_start') blocks.push({});
      const block = blocks.at(-1) ?? {};
      for (const key of ['text', 'thinking', 'partial_json', 'signature']) {
        const piece = at(event, 'delta', key);
        if (typeof piece === 'string') block[key] = (block[key] ?? '') + piece;
      }
    }
    expect(blocks[0]?.['thinking']).toBe(scenarios.rich[0].thinking);
    expect(blocks[0]?.['signature']).toBe(at(whole, 'content', 0, 'signature'));
    expect(blocks[1]?.['text']).toBe(scenarios.rich[0].text);
    expect(JSON.parse(blocks[2]?.['partial_json'] ?? '')).toEqual({ command: 'echo one' });
    expect(JSON.parse(blocks[3]?.['partial_json'] ?? '')).toEqual({ command: 'echo "zwei ü"' });
    expect([1, 2, 3].map((i) => at(whole, 'content', i, 'text') ?? at(whole, 'content', i, 'input'))).toEqual([
      scenarios.rich[0].text,
      { command: 'echo one' },
      { command: 'echo "zwei ü"' },
    ]);
  });

  test('MDL-03 usage: the first event knows the input, the last one the output, the whole reply both', async () => {
    await using server = await startModelServer({ scenarios });
    const url = `${server.url}/v1/messages`;
    const { data } = await streamed(url, requestBody('anthropic', '[[s:rich]]'));
    const input = { input_tokens: 11, cache_read_input_tokens: 22, cache_creation_input_tokens: 33 };
    expect(at(data[0], 'message', 'usage')).toMatchObject({ ...input, output_tokens: 1 });
    const last = data.find((event) => at(event, 'type') === 'message_delta');
    expect(at(last, 'usage')).toMatchObject({ ...input, output_tokens: 44 });
    const whole: unknown = await (await post(url, requestBody('anthropic', '[[s:rich]]'))).json();
    expect(at(whole, 'usage')).toMatchObject({ ...input, output_tokens: 44 });
    expect(server.requests.map(({ usage }) => usage?.output)).toEqual([44, 44]);
  });

  test('MDL-04 the result of a tool call leads to the next step, and no id is used twice', async () => {
    await using server = await startModelServer({ scenarios });
    const url = `${server.url}/v1/messages`;
    const prompt = { role: 'user', content: [{ type: 'text', text: '[[s:rich]] go' }] };
    const first: unknown = await (await post(url, requestBody('anthropic', '', { messages: [prompt] }))).json();
    const ids = [at(first, 'id'), at(first, 'content', 2, 'id'), at(first, 'content', 3, 'id')];
    expect(at(first, 'stop_reason')).toBe('tool_use');
    const results = [2, 3].map((i) => ({ type: 'tool_result', tool_use_id: at(first, 'content', i, 'id'), content: '[[s:length]]' }));
    const messages = [prompt, { role: 'assistant', content: at(first, 'content') }, { role: 'user', content: results }];
    const second: unknown = await (await post(url, requestBody('anthropic', '', { messages }))).json();
    expect(at(second, 'content', 0, 'text')).toBe('Both ran.');
    expect(at(second, 'stop_reason')).toBe('end_turn');
    const again: unknown = await (await post(url, requestBody('anthropic', '', { messages: [prompt] }))).json();
    const all = [...ids, at(second, 'id'), at(again, 'id'), at(again, 'content', 2, 'id')];
    expect(new Set(all).size).toBe(all.length);
    expect(ids.every((id) => /^(msg|toolu)_\w{10,}$/.test(String(id)))).toBe(true);
  });

  test.each([
    ['length', 'max_tokens'],
    ['refusal', 'refusal'],
    ['empty', 'end_turn'],
  ])('MDL-05 the stop reason of %s is %s', async (name, reason) => {
    await using server = await startModelServer({ scenarios });
    const url = `${server.url}/v1/messages`;
    const whole: unknown = await (await post(url, requestBody('anthropic', `[[s:${name}]]`))).json();
    expect(at(whole, 'stop_reason')).toBe(reason);
    const { data } = await streamed(url, requestBody('anthropic', `[[s:${name}]]`));
    expect(at(data.at(-2), 'delta', 'stop_reason')).toBe(reason);
  });

  test('MDL-06 token counts and the list of models are answered', async () => {
    await using server = await startModelServer({ scenarios });
    const count: unknown = await (await post(`${server.url}/v1/messages/count_tokens`, requestBody('anthropic', 'hello'))).json();
    expect(at(count, 'input_tokens')).toBeGreaterThan(0);
    const models: unknown = await (await fetch(`${server.url}/v1/models`)).json();
    expect(models).toMatchObject({ object: 'list', data: [{ id: 'scripted-model', type: 'model', object: 'model' }], has_more: false });
    expect(server.requests.map(({ played }) => played)).toEqual([undefined, undefined]);
  });
});
