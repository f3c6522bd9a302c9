import { describe, expect, test } from 'vitest';
import type { Operation } from '../testkit/model-server/index.ts';
import { startModelServer } from '../testkit/model-server/index.ts';
import { at, paths, post } from './client.ts';

const declare = (name: string, ...keys: readonly string[]): object => ({
  name,
  input_schema: { type: 'object', properties: Object.fromEntries(keys.map((key) => [key, { type: 'string' }])), required: keys },
});

const claude = [
  declare('Bash', 'command', 'description'),
  declare('Write', 'file_path', 'content'),
  declare('Edit', 'file_path', 'old_string', 'new_string'),
  declare('Read', 'file_path'),
];
const opencode = [
  declare('bash', 'command'),
  declare('write', 'filePath', 'content'),
  declare('edit', 'filePath', 'oldString', 'newString'),
];
const shellOnly = [declare('bash', 'command')];

/** What a request with these tools is answered with for one operation. */
const resolved = async (op: Operation, request: { readonly tools: readonly object[]; readonly system?: string }): Promise<unknown> => {
  await using server = await startModelServer({ scenarios: { s: [{ ops: [op] }] } });
  const messages = [{ role: 'user', content: '[[s:s]]' }];
  const response = await post(server.url + paths.anthropic, { model: 'm', max_tokens: 9, messages, ...request });
  return at(await response.json(), 'content', 0);
};

const system = 'Environment:\n - Primary working directory: /srv/my räpo\n - Platform: linux';
const write: Operation = { op: 'write', path: 'src/a.txt', content: "it's\n" };
const edit: Operation = { op: 'edit', path: 'a.txt', from: 'x', to: 'y' };

describe("an operation as the agent's own tool", () => {
  test.each([
    ['Write', write, claude, { file_path: '/srv/my räpo/src/a.txt', content: "it's\n" }],
    ['Edit', edit, claude, { file_path: '/srv/my räpo/a.txt', old_string: 'x', new_string: 'y' }],
    ['Read', { op: 'read', path: '/abs/a.txt' }, claude, { file_path: '/abs/a.txt' }],
    ['Bash', { op: 'bash', command: 'ls' }, claude, { command: 'ls', description: 'scripted' }],
    ['write', write, opencode, { filePath: '/srv/my räpo/src/a.txt', content: "it's\n" }],
    ['edit', edit, opencode, { filePath: '/srv/my räpo/a.txt', oldString: 'x', newString: 'y' }],
    ['bash', write, shellOnly, { command: String.raw`printf '%s' 'it'\''s` + "\n' > 'src/a.txt'" }],
    ['bash', { op: 'read', path: 'a.txt' }, shellOnly, { command: "cat 'a.txt'" }],
    ['gone', { op: 'tool', name: 'gone', input: { a: 1 } }, claude, { a: 1 }],
  ] as const)('MDL-60 %s', async (name, op, tools, input) => {
    expect(await resolved(op, { tools, system })).toMatchObject({ type: 'tool_use', name, input });
  });

  test('MDL-61 without a known folder a path goes out as it is', async () => {
    expect(await resolved(write, { tools: claude })).toMatchObject({ input: { file_path: 'src/a.txt' } });
  });

  test('MDL-62 an operation without a tool becomes a text that says so', async () => {
    expect(await resolved(edit, { tools: shellOnly })).toEqual({ type: 'text', text: '(no tool for edit; declared: bash)' });
  });

  test('MDL-63 edits through a patch tool change one place', async () => {
    await using server = await startModelServer({ scenarios: { s: [{ ops: [edit] }] } });
    const tools = [{ type: 'custom', name: 'apply_patch' }];
    const body: unknown = await (await post(server.url + paths.responses, { model: 'm', input: '[[s:s]]', tools })).json();
    expect(at(body, 'output', 0)).toMatchObject({
      type: 'custom_tool_call',
      name: 'apply_patch',
      input: '*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** End Patch\n',
    });
  });
});
