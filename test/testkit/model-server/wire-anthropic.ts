// Replies as Anthropic writes them. Source: Anthropic API reference, "Messages" (the message object, stop reasons, usage) and
// "Streaming Messages" (the order of events: message_start, then per block start, deltas and stop, then message_delta, message_stop).
import { isObject } from './neutral.ts';
import type { Reply, ToolCall, WireEvent } from './reply.ts';
import { pieces } from './reply.ts';

// An opaque proof that the thinking came from the model; clients send it back unread.
const signature = 'c2NyaXB0ZWQ=';

const stopReason = (reply: Reply): string => {
  if (reply.stop === 'length') return 'max_tokens';
  if (reply.stop === 'refusal') return 'refusal';
  return reply.calls.length > 0 ? 'tool_use' : 'end_turn';
};

const usageOf = (reply: Reply, outputTokens: number): object => ({
  input_tokens: reply.usage.input,
  cache_creation_input_tokens: reply.usage.cacheWrite,
  cache_read_input_tokens: reply.usage.cacheRead,
  cache_creation: { ephemeral_5m_input_tokens: reply.usage.cacheWrite, ephemeral_1h_input_tokens: 0 },
  output_tokens: outputTokens,
  service_tier: 'standard',
});

const messageOf = (reply: Reply, rest: object): object => ({
  id: `msg_${reply.id}`,
  type: 'message',
  role: 'assistant',
  model: reply.model,
  stop_sequence: null,
  ...rest,
});

/** In a whole reply the arguments are an object, so broken text can only be shown as an empty one. */
const inputObject = (call: ToolCall): object => {
  try {
    const parsed: unknown = JSON.parse(call.input.text);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
};

interface Block {
  readonly empty: object;
  readonly whole: object;
  readonly deltas: readonly object[];
}

const blocksOf = (reply: Reply): readonly Block[] => {
  const blocks: Block[] = [];
  const { thinking, text } = reply;
  if (thinking !== '') {
    blocks.push({
      empty: { type: 'thinking', thinking: '', signature: '' },
      whole: { type: 'thinking', thinking, signature },
      deltas: [...pieces(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })), { type: 'signature_delta', signature }],
    });
  }
  if (text !== '') {
    blocks.push({
      empty: { type: 'text', text: '' },
      whole: { type: 'text', text },
      deltas: pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
    });
  }
  for (const call of reply.calls) {
    const use = { type: 'tool_use', id: `toolu_${call.id}`, name: call.name };
    blocks.push({
      empty: { ...use, input: {} },
      whole: { ...use, input: inputObject(call) },
      deltas: pieces(call.input.text).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    });
  }
  return blocks;
};

/** The reply as one body (`stream: false`). */
export const anthropicBody = (reply: Reply): object =>
  messageOf(reply, {
    content: blocksOf(reply).map((block) => block.whole),
    stop_reason: stopReason(reply),
    usage: usageOf(reply, reply.usage.output),
  });

const event = (type: string, rest: object, piece = false): WireEvent => ({ name: type, data: { type, ...rest }, piece });

/** The reply as a stream. The usage in message_start has one output token, as the real one does: only message_delta has the total. */
export function* anthropicEvents(reply: Reply): Generator<WireEvent> {
  yield event('message_start', { message: messageOf(reply, { content: [], stop_reason: null, usage: usageOf(reply, 1) }) });
  yield event('ping', {});
  for (const [index, block] of blocksOf(reply).entries()) {
    yield event('content_block_start', { index, content_block: block.empty });
    for (const delta of block.deltas) yield event('content_block_delta', { index, delta }, true);
    yield event('content_block_stop', { index });
  }
  const delta = { stop_reason: stopReason(reply), stop_sequence: null };
  yield event('message_delta', { delta, usage: usageOf(reply, reply.usage.output) });
  yield event('message_stop', {});
}
