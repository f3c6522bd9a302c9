// A request of any of the three protocols in one neutral form. Sources: Anthropic "Messages API", OpenAI "Responses API: create a
// model response", OpenAI "Chat Completions API: create chat completion". What is malformed is read as empty: agents of every age
// send odd fields, and a scripted model has no reason to refuse them.

export type Wire = 'anthropic' | 'responses' | 'chat';

/** One side's words until the other side speaks. */
export interface Turn {
  readonly role: 'user' | 'model';
  /** What was typed or said: tool results are not in here, so a tag inside a file that an agent read picks nothing. */
  readonly said: string;
  /** The tool results and everything else. */
  readonly shown: string;
}

export interface ToolDeclaration {
  readonly name: string;
  /** Some clients nest tools; the name has to be sent back with its namespace. */
  readonly namespace: string | undefined;
  /** `function` takes JSON arguments; `custom` takes one free text (OpenAI Responses). */
  readonly kind: 'function' | 'custom';
  /** JSON Schema of the arguments: property name to its schema. */
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required: readonly string[];
}

export interface NeutralRequest {
  readonly wire: Wire;
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolDeclaration[];
  /** JSON Schema that the answer must fit, where the caller asked for one. */
  readonly schema: JsonObject | undefined;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const objectsOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** All text in a content value: a string, or blocks whose text, content or output may nest further. */
const flat = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(flat).join('\n');
  if (!isObject(content)) return '';
  return flat(content['text'] ?? content['content'] ?? content['output'] ?? '');
};

/** Joins neighbours of one role: a reply may come back as several items, and it still was one turn. */
const joinTurns = (pieces: readonly Turn[]): Turn[] => {
  const turns: Turn[] = [];
  for (const piece of pieces) {
    const last = turns.at(-1);
    if (last?.role !== piece.role) turns.push(piece);
    else turns[turns.length - 1] = { role: last.role, said: `${last.said}\n${piece.said}`, shown: `${last.shown}\n${piece.shown}` };
  }
  return turns;
};

interface RawTool {
  readonly name: unknown;
  readonly kind: ToolDeclaration['kind'];
  readonly schema: unknown;
  readonly namespace?: string;
}

const toolOf = ({ name, kind, schema, namespace }: RawTool): ToolDeclaration => {
  const { properties, required } = objectOf(schema);
  return {
    name: textOf(name),
    namespace,
    kind,
    properties: Object.fromEntries(Object.entries(objectOf(properties)).map(([key, value]) => [key, objectOf(value)])),
    required: Array.isArray(required) ? required.filter((key) => typeof key === 'string') : [],
  };
};

const schemaOf = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);

const readAnthropic = (body: JsonObject): Omit<NeutralRequest, 'wire' | 'model' | 'stream'> => ({
  system: flat(body['system']),
  turns: joinTurns(
    objectsOf(body['messages']).map((message) => {
      const content = message['content'];
      const typed = Array.isArray(content) ? objectsOf(content).filter((block) => block['type'] === 'text') : content;
      return { role: message['role'] === 'assistant' ? 'model' : 'user', said: flat(typed), shown: flat(content) };
    }),
  ),
  // Tools that the provider runs itself have a `type` such as `web_search_...` and no schema: a script cannot call them.
  tools: objectsOf(body['tools'])
    .filter((tool) => isObject(tool['input_schema']))
    .map((tool) => toolOf({ name: tool['name'], kind: 'function', schema: tool['input_schema'] })),
  schema: schemaOf(objectOf(objectOf(body['output_config'])['format'])['schema'] ?? objectOf(body['output_format'])['schema']),
});

const readChat = (body: JsonObject): Omit<NeutralRequest, 'wire' | 'model' | 'stream'> => {
  const messages = objectsOf(body['messages']);
  const isSystem = (message: JsonObject): boolean => message['role'] === 'system' || message['role'] === 'developer';
  const format = objectOf(body['response_format']);
  return {
    system: messages
      .filter(isSystem)
      .map((message) => flat(message['content']))
      .join('\n'),
    turns: joinTurns(
      messages
        .filter((message) => !isSystem(message))
        .map((message) => {
          const text = flat(message['content']);
          return { role: message['role'] === 'assistant' ? 'model' : 'user', said: message['role'] === 'tool' ? '' : text, shown: text };
        }),
    ),
    tools: objectsOf(body['tools']).map((tool) => {
      const declared = objectOf(tool['function']);
      return toolOf({ name: declared['name'], kind: 'function', schema: declared['parameters'] });
    }),
    schema: format['type'] === 'json_object' ? {} : schemaOf(objectOf(format['json_schema'])['schema']),
  };
};

const readResponses = (body: JsonObject): Omit<NeutralRequest, 'wire' | 'model' | 'stream'> => {
  const items = typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : objectsOf(body['input']);
  const isSystem = (item: JsonObject): boolean => item['role'] === 'system' || item['role'] === 'developer';
  const isModel = (item: JsonObject): boolean =>
    item['role'] === 'assistant' || item['type'] === 'reasoning' || textOf(item['type']).endsWith('_call');
  const tools: ToolDeclaration[] = [];
  const collect = (tool: JsonObject, namespace?: string): void => {
    if (tool['type'] === 'namespace') for (const inner of objectsOf(tool['tools'])) collect(inner, textOf(tool['name']));
    else if (tool['type'] === 'function' || tool['type'] === 'custom') {
      const raw: RawTool = { name: tool['name'], kind: tool['type'], schema: tool['parameters'] };
      tools.push(toolOf(namespace === undefined ? raw : { ...raw, namespace }));
    }
  };
  for (const tool of objectsOf(body['tools'])) collect(tool);
  return {
    system: [textOf(body['instructions']), ...items.filter(isSystem).map(flat)].join('\n'),
    turns: joinTurns(
      items
        .filter((item) => !isSystem(item))
        .map((item) => {
          const text = flat(item);
          return { role: isModel(item) ? 'model' : 'user', said: textOf(item['type']).endsWith('_output') ? '' : text, shown: text };
        }),
    ),
    tools,
    schema: schemaOf(objectOf(objectOf(body['text'])['format'])['schema']),
  };
};

const readers = { anthropic: readAnthropic, chat: readChat, responses: readResponses };

/**
 * @param wire which protocol the body is written in
 * @param body the parsed JSON body of the request
 */
export const neutralRequest = (wire: Wire, body: JsonObject): NeutralRequest => ({
  wire,
  model: textOf(body['model']),
  stream: body['stream'] === true,
  ...readers[wire](body),
});
