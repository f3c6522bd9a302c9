import { describe, expect, test } from 'vitest';
import type { Scenarios } from '../testkit/model-server/index.ts';
import { startModelServer } from '../testkit/model-server/index.ts';
import { at, paths, post, requestBody, textOf, wires } from './client.ts';

const scenarios: Scenarios = {
  alpha: [{ text: 'alpha 0' }, { text: 'alpha 1' }],
  beta: [{ text: 'beta 0' }],
  worker: [{ text: 'working', ops: [{ op: 'bash', command: 'true' }] }],
  pattern: { match: /repair the (?:test|build)/gi, steps: [{ text: 'by pattern' }] },
  question: { match: (said) => said.endsWith('?'), steps: [{ text: 'by function' }] },
  memory: [{ text: ({ conversation, turn }) => `${turn} ${conversation.includes('blue giraffe')}` }],
  judge: [{ ops: [{ op: 'answer', value: { verdict: 'pass' } }] }],
};

const user = (content: unknown): object => ({ role: 'user', content });
const model = (content: unknown): object => ({ role: 'assistant', content });

/** The text that a conversation in Anthropic's form is answered with. */
const reply = async (url: string, messages: readonly object[], rest: object = {}): Promise<unknown> =>
  textOf('anthropic', await (await post(url + paths.anthropic, requestBody('anthropic', '', { messages, ...rest }))).json());

describe('choice of the scenario', () => {
  test.each(wires)('MDL-50 the newest text with a tag picks the scenario, the turns after it the step (%s)', async (wire) => {
    await using server = await startModelServer({ scenarios });
    const ask = async (...turns: readonly object[]): Promise<unknown> => {
      const key = wire === 'responses' ? 'input' : 'messages';
      return textOf(wire, await (await post(server.url + paths[wire], requestBody(wire, '', { [key]: turns }))).json());
    };
    const first = [user('[[s:alpha]] go')];
    expect(await ask(...first)).toBe('alpha 0');
    const second = [...first, model('alpha 0'), user('go on')];
    expect(await ask(...second)).toBe('alpha 1');
    expect(await ask(...second, model('alpha 1'), user('[[s:beta]] and this'))).toBe('beta 0');
    expect(await ask(...second, model('alpha 1'), user('[[s:alpha]] again'))).toBe('alpha 0');
  });

  test('MDL-51 a tag in a tool result picks nothing, one beside it does', async () => {
    await using server = await startModelServer({ scenarios });
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'a file that says [[s:beta]]' };
    const before = [user('[[s:alpha]]'), model('alpha 0')];
    expect(await reply(server.url, [...before, user([result])])).toBe('alpha 1');
    // After a cancel the next prompt shares a message with the result of the tool that was ended.
    expect(await reply(server.url, [...before, user([result, { type: 'text', text: '[[s:beta]]' }])])).toBe('beta 0');
  });

  test('MDL-52 without a tag a pattern or a function picks, every time anew', async () => {
    await using server = await startModelServer({ scenarios });
    for (let i = 0; i < 3; i++) expect(await reply(server.url, [user('Please repair the build')])).toBe('by pattern');
    expect(await reply(server.url, [user('What now?')])).toBe('by function');
    expect(await reply(server.url, [user('[[s:beta]] What now?')])).toBe('beta 0');
    expect(server.requests.map(({ played }) => played?.why)).toEqual(['match', 'match', 'match', 'match', 'tag']);
  });

  test('MDL-53 past its end a scenario repeats its last step without the operations', async () => {
    await using server = await startModelServer({ scenarios });
    const messages = [user('[[s:worker]]'), model('working'), user('more')];
    const response = await post(server.url + paths.anthropic, requestBody('anthropic', '', { messages }));
    expect(await response.json()).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'working' }] });
  });

  test('MDL-54 a call that an agent makes for itself gets an answer and uses no step', async () => {
    await using server = await startModelServer({ scenarios });
    const quoting = [user('Give this a title: [[s:worker]]')];
    expect(await reply(server.url, quoting, { tools: [] })).toBe('Scripted side answer.');
    expect(await reply(server.url, [user('hello')])).toBe('Scripted side answer.');
    expect(server.requests.map(({ played }) => played?.why)).toEqual(['side', 'unscripted']);
  });

  test('MDL-55 a tag that names no scenario is an error that names those there are', async () => {
    await using server = await startModelServer({ scenarios });
    const response = await post(server.url + paths.anthropic, requestBody('anthropic', '[[s:alpah]]'));
    expect(response.status).toBe(400);
    expect(at(await response.json(), 'error', 'message')).toMatch(/alpah.*alpha, beta/);
    expect((await post(server.url + paths.anthropic, requestBody('anthropic', '[[s:constructor]]'))).status).toBe(400);
  });

  test('MDL-56 a text may look at the conversation', async () => {
    await using server = await startModelServer({ scenarios });
    expect(await reply(server.url, [user('a blue giraffe'), model('yes'), user('[[s:memory]]')])).toBe('0 true');
    expect(await reply(server.url, [user('[[s:memory]]'), model('yes'), user('and?')])).toBe('1 false');
  });

  test('MDL-57 an answer goes through the answer tool where there is one, else it is JSON text', async () => {
    await using server = await startModelServer({ scenarios });
    const tools = [{ name: 'StructuredOutput', input_schema: { type: 'object' } }];
    const called = await post(server.url + paths.anthropic, requestBody('anthropic', '[[s:judge]]', { tools }));
    expect(at(await called.json(), 'content', 0)).toMatchObject({ type: 'tool_use', name: 'StructuredOutput', input: { verdict: 'pass' } });
    const text = { format: { type: 'json_schema', schema: { type: 'object' } } };
    const plain = await post(server.url + paths.responses, requestBody('responses', '[[s:judge]]', { tools: [], text }));
    expect(textOf('responses', await plain.json())).toBe('{"verdict":"pass"}');
  });
});
