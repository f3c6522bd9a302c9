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
      usage: { input: 11, cacheRead: 22, cacheWrite: 33, output: 44, reasoning: 5 },
    },
    { text: 'Both ran.' },
  ],
  length: [{ text: 'cut', stop: 'length' }],
  refusal: [{ text: 'no', stop: 'refusal' }],
} as const;

const usage = {
  prompt_tokens: 66,
  completion_tokens: 44,
  total_tokens: 110,
  prompt_tokens_details: { cached_tokens: 22 },
  completion_tokens_details: { reasoning_tokens: 5 },
};

describe('OpenAI Chat Completions', () => {
  test('MDL-20 a stream starts with the role, ends with finish reason, usage and [DONE], under one id', async () => {
    await using server = await startModelServer({ scenarios });
    const { events, data } = await streamed(`${server.url}/v1/chat/completions`, requestBody('chat', '[[s:rich]]'));
    expect(events.at(-1)?.data).toBe('[DONE]');
    expect(events.every(({ event }) => event === undefined)).toBe(true);
    expect(at(data[0], 'choices', 0, 'delta', 'role')).toBe('assistant');
    expect(data.at(-1)).toMatchObject({ choices: [], usage });
    const finished = data.map((chunk) => at(chunk, 'choices', 0, 'finish_reason'));
    expect(finished.indexOf('tool_calls')).toBe(data.length - 2);
    expect(new Set(data.map((chunk) => at(chunk, 'id'))).size).toBe(1);
    expect(data.every((chunk) => at(chunk, 'object') === 'chat.completion.chunk')).toBe(true);
  });

  test('MDL-21 the pieces add up to text, reasoning and tool calls as in the reply that is not streamed', async () => {
    await using server = await startModelServer({ scenarios });
    const url = `${server.url}/v1/chat/completions`;
    const { data } = await streamed(url, requestBody('chat', '[[s:rich]]'));
    const sums = { content: '', reasoning_content: '' };
    const calls: { id: unknown; name: unknown; args: string }[] = [];
    for (const chunk of data) {
      const delta = at(chunk, 'choices', 0, 'delta');
      for (const key of ['content', 'reasoning_content'] as const) sums[key] += (at(delta, key) as string | undefined) ?? '';
      const call = at(delta, 'tool_calls', 0);
      const index = Number(at(call, 'index'));
      if (at(call, 'id') !== undefined) calls[index] = { id: at(call, 'id'), name: at(call, 'function', 'name'), args: '' };
      const entry = calls[index];
      if (entry !== undefined) entry.args += String(at(call, 'function', 'arguments'));
    }
    expect(sums).toEqual({ content: scenarios.rich[0].text, reasoning_content: scenarios.rich[0].thinking });
    expect(calls.map(({ args }) => JSON.parse(args) as unknown)).toEqual([{ command: 'echo one' }, { command: 'echo "zwei ü"' }]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    const whole: unknown = await (await post(url, requestBody('chat', '[[s:rich]]'))).json();
    expect(whole).toMatchObject({ object: 'chat.completion', usage });
    expect(at(whole, 'choices', 0, 'message')).toMatchObject({
      content: sums.content,
      tool_calls: calls.map(({ name, args }) => ({ type: 'function', function: { name, arguments: args } })),
    });
  });

  test('MDL-22 the results of tool calls lead to the next step', async () => {
    await using server = await startModelServer({ scenarios });
    const url = `${server.url}/v1/chat/completions`;
    const first: unknown = await (await post(url, requestBody('chat', '[[s:rich]]'))).json();
    const message = at(first, 'choices', 0, 'message');
    const results = [0, 1].map((i) => ({ role: 'tool', tool_call_id: at(message, 'tool_calls', i, 'id'), content: '[[s:length]]' }));
    const messages = [{ role: 'system', content: 'be brief' }, { role: 'user', content: '[[s:rich]]' }, message, ...results];
    const second: unknown = await (await post(url, requestBody('chat', '', { messages }))).json();
    expect(at(second, 'choices', 0, 'message', 'content')).toBe('Both ran.');
    expect(at(second, 'choices', 0, 'finish_reason')).toBe('stop');
  });

  test.each([
    ['length', 'length'],
    ['refusal', 'content_filter'],
  ])('MDL-23 the finish reason of %s is %s', async (name, reason) => {
    await using server = await startModelServer({ scenarios });
    const whole: unknown = await (await post(`${server.url}/v1/chat/completions`, requestBody('chat', `[[s:${name}]]`))).json();
    expect(at(whole, 'choices', 0, 'finish_reason')).toBe(reason);
  });
});
