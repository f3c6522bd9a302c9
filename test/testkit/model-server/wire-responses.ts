// Replies as OpenAI Responses writes them. Source: OpenAI API reference, "Responses" (the response object, output items) and
// "Streaming events" (each event carries its type and a sequence number that counts up without gaps).
import type { Reply, ToolCall, WireEvent } from './reply.ts';
import { inputWithCache, pieces } from './reply.ts';

const usageOf = ({ usage }: Reply): object => ({
  input_tokens: inputWithCache(usage),
  input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: inputWithCache(usage) + usage.output,
});

/** The events between `output_item.added` and `output_item.done`, without the fields that all of them share. */
interface Part {
  readonly type: string;
  readonly rest: object;
  readonly piece?: true;
}

interface Item {
  readonly id: string;
  readonly started: object;
  readonly done: object;
  readonly parts: readonly Part[];
}

const reasoningItem = ({ id: replyId, thinking }: Reply): Item => {
  const id = `rs_${replyId}`;
  const part = { type: 'summary_text', text: thinking };
  return {
    id,
    started: { type: 'reasoning', id, summary: [] },
    done: { type: 'reasoning', id, summary: [part], encrypted_content: 'c2NyaXB0ZWQ=' },
    parts: [
      { type: 'response.reasoning_summary_part.added', rest: { summary_index: 0, part: { ...part, text: '' } } },
      ...pieces(thinking).map((delta): Part => ({
        type: 'response.reasoning_summary_text.delta',
        rest: { summary_index: 0, delta },
        piece: true,
      })),
      { type: 'response.reasoning_summary_text.done', rest: { summary_index: 0, text: thinking } },
      { type: 'response.reasoning_summary_part.done', rest: { summary_index: 0, part } },
    ],
  };
};

const messageItem = ({ id: replyId, text, stop }: Reply): Item => {
  const id = `msg_${replyId}`;
  const base = { type: 'message', id, role: 'assistant' };
  const part = { type: 'output_text', text, annotations: [] };
  return {
    id,
    started: { ...base, status: 'in_progress', content: [] },
    done: { ...base, status: stop === 'natural' ? 'completed' : 'incomplete', content: [part] },
    parts: [
      { type: 'response.content_part.added', rest: { content_index: 0, part: { ...part, text: '' } } },
      ...pieces(text).map((delta): Part => ({ type: 'response.output_text.delta', rest: { content_index: 0, delta }, piece: true })),
      { type: 'response.output_text.done', rest: { content_index: 0, text } },
      { type: 'response.content_part.done', rest: { content_index: 0, part } },
    ],
  };
};

const callItem = (call: ToolCall): Item => {
  const free = call.input.form === 'free';
  const id = `${free ? 'ctc' : 'fc'}_${call.id}`;
  const namespace = call.namespace === undefined ? {} : { namespace: call.namespace };
  const base = { type: free ? 'custom_tool_call' : 'function_call', id, call_id: `call_${call.id}`, name: call.name, ...namespace };
  const field = free ? 'input' : 'arguments';
  const type = free ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
  return {
    id,
    started: { ...base, [field]: '', status: 'in_progress' },
    done: { ...base, [field]: call.input.text, status: 'completed' },
    parts: [
      ...pieces(call.input.text).map((delta): Part => ({ type: `${type}.delta`, rest: { delta }, piece: true })),
      { type: `${type}.done`, rest: { [field]: call.input.text } },
    ],
  };
};

const itemsOf = (reply: Reply): readonly Item[] => [
  ...(reply.thinking === '' ? [] : [reasoningItem(reply)]),
  ...(reply.text === '' && reply.calls.length > 0 ? [] : [messageItem(reply)]),
  ...reply.calls.map(callItem),
];

const responseOf = (reply: Reply, rest: object): object => ({
  id: `resp_${reply.id}`,
  object: 'response',
  created_at: reply.createdS,
  model: reply.model,
  error: null,
  incomplete_details: null,
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  metadata: {},
  ...rest,
});

/** The reply as one body (`stream: false`). */
export const responsesBody = (reply: Reply): object => {
  const reasons = { length: 'max_output_tokens', refusal: 'content_filter' };
  const ended =
    reply.stop === 'natural' ? { status: 'completed' } : { status: 'incomplete', incomplete_details: { reason: reasons[reply.stop] } };
  return responseOf(reply, { ...ended, output: itemsOf(reply).map((item) => item.done), usage: usageOf(reply) });
};

/** The reply as a stream. */
export function* responsesEvents(reply: Reply): Generator<WireEvent> {
  let sequence = 0;
  const event = (type: string, rest: object, piece = false): WireEvent => ({
    name: type,
    data: { type, sequence_number: sequence++, ...rest },
    piece,
  });
  const started = responseOf(reply, { status: 'in_progress', output: [], usage: null });
  yield event('response.created', { response: started });
  yield event('response.in_progress', { response: started });
  for (const [index, item] of itemsOf(reply).entries()) {
    yield event('response.output_item.added', { output_index: index, item: item.started });
    for (const part of item.parts) yield event(part.type, { item_id: item.id, output_index: index, ...part.rest }, part.piece === true);
    yield event('response.output_item.done', { output_index: index, item: item.done });
  }
  const end = reply.stop === 'natural' ? 'response.completed' : 'response.incomplete';
  yield event(end, { response: responsesBody(reply) });
}

/**
 * The event that ends a stream in which the provider failed.
 * @param sequence events sent before it
 */
export const responsesFailure = (reply: Reply, sequence: number): WireEvent => {
  const error = { code: 'server_is_overloaded', message: 'The server is overloaded.' };
  const response = responseOf(reply, { status: 'failed', output: [], usage: null, error });
  return { name: 'response.failed', data: { type: 'response.failed', sequence_number: sequence, response }, piece: false };
};
