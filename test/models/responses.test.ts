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
        { op: 'write', path: 'a b.txt', content: 'x\ny\n' },
      ],
      usage: { input: 11, cacheRead: 22, cacheWrite: 33, output: 44, reasoning: 5 },
    },
    { text: 'Both ran.' },
    { text: 'A turn too many was counted.' },
  ],
  length: [{ text: 'cut', stop: 'length' }],
  refusal: [{ text: 'no', stop: 'refusal' }],
  nested: [{ ops: [{ op: 'tool', name: 'look', input: { at: 1 } }] }],
} as const;

const shell = { type: 'function', name: 'shell', parameters: { type: 'object', properties: { command: { type: 'array' } } } };
const tools = [shell, { type: 'custom', name: 'apply_patch' }, { type: 'web_search' }];
const ask = (name: string): object => requestBody('responses', `[[s:${name}]]`, { tools });
const patch = '*** Begin Patch\n*** Add File: a b.txt\n+x\n+y\n*** End Patch\n';

const itemOrder = (...inner: readonly string[]): string[] => ['output_item.added', ...inner, 'output_item.done'];

describe('OpenAI Responses', () => {
  test('MDL-10 a stream has its events in the documented order, numbered without gaps', async () => {
    await using server = await startModelServer({ scenarios });
    const { events, data } = await streamed(`${server.url}/v1/responses`, ask('rich'));
    expect(data.map((event) => at(event, 'sequence_number'))).toEqual(data.map((_, i) => i));
    expect(events.every(({ event }, i) => event === at(data[i], 'type'))).toBe(true);
    const order = events.map(({ event }) => event?.replace('response.', '')).filter((event, i, all) => event !== all[i - 1]);
    expect(order).toEqual([
      'created',
      'in_progress',
      ...itemOrder(
        'reasoning_summary_part.added',
        'reasoning_summary_text.delta',
        'reasoning_summary_text.done',
        'reasoning_summary_part.done',
      ),
      ...itemOrder('content_part.added', 'output_text.delta', 'output_text.done', 'content_part.done'),
      ...itemOrder('function_call_arguments.delta', 'function_call_arguments.done'),
      ...itemOrder('custom_tool_call_input.delta', 'custom_tool_call_input.done'),
      'completed',
    ]);
  });

  test('MDL-11 the pieces add up to each finished item, and these to the finished response', async () => {
    await using server = await startModelServer({ scenarios });
    const { data } = await streamed(`${server.url}/v1/responses`, ask('rich'));
    const sums = ['', '', '', ''];
    for (const event of data) {
      const index = Number(at(event, 'output_index'));
      const delta = at(event, 'delta');
      if (typeof delta === 'string') sums[index] = (sums[index] ?? '') + delta;
    }
    expect(sums).toEqual([scenarios.rich[0].thinking, scenarios.rich[0].text, '{"command":["bash","-lc","echo one"]}', patch]);
    const done = data.filter((event) => at(event, 'type') === 'response.output_item.done').map((event) => at(event, 'item'));
    const final = at(data.at(-1), 'response');
    expect(at(final, 'output')).toEqual(done);
    expect([at(done[0], 'summary', 0, 'text'), at(done[1], 'content', 0, 'text'), at(done[2], 'arguments'), at(done[3], 'input')]).toEqual(
      sums,
    );
    // An item keeps its id from its first event to its last.
    const added = data.filter((event) => at(event, 'type') === 'response.output_item.added').map((event) => at(event, 'item', 'id'));
    expect(done.map((item) => at(item, 'id'))).toEqual(added);
    expect(new Set(added).size).toBe(4);
  });

  test('MDL-12 usage counts the cache into the input, streamed or not', async () => {
    await using server = await startModelServer({ scenarios });
    const usage = {
      input_tokens: 66,
      input_tokens_details: { cached_tokens: 22 },
      output_tokens: 44,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 110,
    };
    const { data } = await streamed(`${server.url}/v1/responses`, ask('rich'));
    expect(at(data[0], 'response', 'usage')).toBeNull();
    expect(at(data.at(-1), 'response', 'usage')).toMatchObject(usage);
    const whole: unknown = await (await post(`${server.url}/v1/responses`, ask('rich'))).json();
    expect(whole).toMatchObject({ object: 'response', status: 'completed', usage });
  });

  test('MDL-13 the outputs of tool calls lead to the next step, however many items a turn has', async () => {
    await using server = await startModelServer({ scenarios });
    const url = `${server.url}/v1/responses`;
    const first: unknown = await (await post(url, ask('rich'))).json();
    const items = at(first, 'output') as readonly unknown[];
    const prompt = { type: 'message', role: 'user', content: [{ type: 'input_text', text: '[[s:rich]]' }] };
    const outputs = items
      .slice(2)
      .map((item) => ({ type: String(at(item, 'type')) + '_output', call_id: at(item, 'call_id'), output: '[[s:length]]' }));
    const second: unknown = await (await post(url, { model: 'm', tools, input: [prompt, ...items, ...outputs] })).json();
    expect(at(second, 'output', 0, 'content', 0, 'text')).toBe('Both ran.');
  });

  test.each([
    ['length', 'max_output_tokens'],
    ['refusal', 'content_filter'],
  ])('MDL-14 a reply that stops for %s is incomplete because of %s', async (name, reason) => {
    await using server = await startModelServer({ scenarios });
    const { data } = await streamed(`${server.url}/v1/responses`, ask(name));
    expect(data.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason } },
    });
  });

  test('MDL-15 a tool inside a namespace is called with its namespace', async () => {
    await using server = await startModelServer({ scenarios });
    const nested = { type: 'namespace', name: 'eyes', tools: [{ type: 'function', name: 'look', parameters: {} }] };
    const body = requestBody('responses', '[[s:nested]]', { tools: [nested] });
    const whole: unknown = await (await post(`${server.url}/v1/responses`, body)).json();
    expect(at(whole, 'output', 0)).toMatchObject({ type: 'function_call', name: 'look', namespace: 'eyes', arguments: '{"at":1}' });
  });
});
