// From a neutral operation to the tool that the calling agent declared for it: one scenario drives every agent through its own
// tools. Names and argument names are those that agents declare in their requests; an agent that is not known here still works when
// it uses the usual words.
import path from 'node:path';
import type { JsonObject, NeutralRequest, ToolDeclaration } from './neutral.ts';
import type { Operation } from './scenario.ts';

/** What to send back: a call, or text where the agent has no tool for it. */
export type Resolved =
  | { readonly as: 'call'; readonly name: string; readonly namespace: string | undefined; readonly input: JsonObject | string }
  | { readonly as: 'text'; readonly text: string };

// The first declared name wins.
const toolNames = {
  write: ['Write', 'write', 'write_file', 'create_file', 'write_to_file', 'Create', 'create', 'apply_patch'],
  edit: ['Edit', 'edit', 'replace', 'edit_file', 'str_replace', 'apply_patch'],
  read: ['Read', 'read', 'read_file', 'view'],
  bash: ['Bash', 'bash', 'shell', 'exec_command', 'shell_command', 'run_shell_command', 'execute_command', 'Execute'],
  answer: ['StructuredOutput', 'structured_output', 'submit_result'],
};

const argumentNames = {
  path: ['file_path', 'filePath', 'absolute_path', 'path', 'filename'],
  content: ['content', 'contents', 'file_text', 'text'],
  from: ['old_string', 'oldString', 'oldText', 'old_str', 'search'],
  to: ['new_string', 'newString', 'newText', 'new_str', 'replace'],
  command: ['command', 'cmd', 'script'],
};

// How agents tell the model where they work, in the order of trust: the prompt's own `[[cwd:...]]` first. To the end of the line,
// because folder names have spaces.
const folders = [
  /\[\[cwd:([^\]\n]+)\]\]/,
  /<cwd>([^<\n]+)<\/cwd>/,
  /(?:current |primary )?working directory(?: is)?\s*[:=]\s*["'`]?(\/[^"'`\n<]*)/i,
];

/** The agent's working folder, as far as its request tells. */
export const workingFolder = (request: NeutralRequest): string | undefined => {
  const texts = [request.system, ...request.turns.map((turn) => turn.shown)].join('\n');
  for (const pattern of folders) {
    const folder = pattern.exec(texts)?.[1]?.trim();
    if (folder !== undefined && folder !== '') return folder;
  }
  return undefined;
};

/** A value that fits a schema, for required arguments that no operation speaks of (a description, a reason). */
const sample = (schema: JsonObject | undefined): unknown => {
  const choices = schema?.['enum'];
  if (Array.isArray(choices)) return choices[0];
  const type = schema?.['type'];
  if (type === 'boolean') return false;
  if (type === 'number' || type === 'integer') return 1;
  if (type === 'array') return [];
  return type === 'object' ? {} : 'scripted';
};

/** The arguments under the tool's own names, and something for every other one that it requires. */
const argumentsOf = (tool: ToolDeclaration, values: Readonly<Partial<Record<keyof typeof argumentNames, string>>>): JsonObject => {
  const input = Object.fromEntries(tool.required.map((key): [string, unknown] => [key, sample(tool.properties[key])]));
  for (const [role, value] of Object.entries(values)) {
    const names = argumentNames[role as keyof typeof argumentNames];
    const name = names.find((candidate) => candidate in tool.properties) ?? names[0] ?? role;
    // A shell tool that takes an argument list gets a shell of its own.
    input[name] = tool.properties[name]?.['type'] === 'array' ? ['bash', '-lc', value] : value;
  }
  return input;
};

const prefixed = (prefix: string, text: string): string =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => prefix + line)
    .join('\n');

/** The patch text of OpenAI's `apply_patch` tool (grammar in its tool description). */
const patchOf = (operation: Extract<Operation, { op: 'write' | 'edit' }>): string => {
  const body =
    operation.op === 'write'
      ? `*** Add File: ${operation.path}\n${prefixed('+', operation.content)}`
      : `*** Update File: ${operation.path}\n@@\n${prefixed('-', operation.from)}\n${prefixed('+', operation.to)}`;
  return `*** Begin Patch\n${body}\n*** End Patch\n`;
};

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const call = (tool: Pick<ToolDeclaration, 'name' | 'namespace'>, input: JsonObject | string): Resolved => ({
  as: 'call',
  name: tool.name,
  namespace: tool.namespace,
  input,
});

interface Placed {
  readonly tool: ToolDeclaration;
  readonly operation: Exclude<Operation, { op: 'answer' | 'tool' }>;
  /** The operation's file as the tool wants it; empty where it has none. */
  readonly file: string;
}

const inputFor = ({ tool, operation, file }: Placed): JsonObject | string => {
  switch (operation.op) {
    case 'bash':
      return argumentsOf(tool, { command: operation.command });
    case 'read':
      return argumentsOf(tool, { path: file });
    case 'write':
    case 'edit':
      if (tool.kind === 'custom') return patchOf(operation);
      if (tool.name === 'apply_patch') return { [tool.required[0] ?? 'input']: patchOf(operation) };
      if (operation.op === 'write') return argumentsOf(tool, { path: file, content: operation.content });
      // pi takes a list of edits of one file.
      if ('edits' in tool.properties) return { path: file, edits: [{ oldText: operation.from, newText: operation.to }] };
      return argumentsOf(tool, { path: file, from: operation.from, to: operation.to });
  }
};

/** Finds the agent's tool for an operation. An agent with nothing but a shell writes and reads through it. */
export const resolveOperation = (operation: Operation, request: NeutralRequest): Resolved => {
  const declared = (names: readonly string[]): ToolDeclaration | undefined =>
    names.map((name) => request.tools.find((tool) => tool.name === name)).find((tool) => tool !== undefined);
  if (operation.op === 'tool') {
    return call(declared([operation.name]) ?? { name: operation.name, namespace: undefined }, operation.input);
  }
  const tool = declared(toolNames[operation.op]);
  if (operation.op === 'answer') {
    const text = JSON.stringify(operation.value);
    return tool === undefined ? { as: 'text', text } : call(tool, operation.value as JsonObject);
  }
  const shell = declared(toolNames.bash);
  if (tool === undefined && shell !== undefined && operation.op === 'write') {
    const command = `printf '%s' ${quoted(operation.content)} > ${quoted(operation.path)}`;
    return call(shell, argumentsOf(shell, { command }));
  }
  if (tool === undefined && shell !== undefined && operation.op === 'read') {
    return call(shell, argumentsOf(shell, { command: `cat ${quoted(operation.path)}` }));
  }
  if (tool === undefined) {
    const names = request.tools.map(({ name }) => name).join(', ');
    return { as: 'text', text: `(no tool for ${operation.op}; declared: ${names === '' ? 'none' : names})` };
  }
  const folder = workingFolder(request);
  // Without a known folder the path goes out as it is: an agent that wants absolute paths says so, and the test shows it.
  const file = 'path' in operation ? (folder === undefined ? operation.path : path.resolve(folder, operation.path)) : '';
  return call(tool, inputFor({ tool, operation, file }));
};
