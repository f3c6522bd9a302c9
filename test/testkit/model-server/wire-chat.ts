// Replies as OpenAI Chat Completions writes them. Source: OpenAI API reference, "Chat Completions": the chat completion object, the
// chat completion chunk object, and `stream_options.include_usage` (a last chunk without choices carries the usage).
import type { Reply, ToolCall, WireEvent } from './reply.ts';
import { inputWithCache, pieces } from './reply.ts';

const finishReason = (reply: Reply): string => {
  if (reply.stop === 'length') return 'length';
  if (reply.stop === 'refusal') return 'content_filter';
  return reply.calls.length > 0 ? 'tool_calls' : 'stop';
};

const usageOf = ({ usage }: Reply): object => ({
  prompt_tokens: inputWithCache(usage),
  completion_tokens: usage.output,
  total_tokens: inputWithCache(usage) + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
});

const callOf = (call: ToolCall, args: string): object => ({
  id: `call_${call.id}`,
  type: 'function',
  function: { name: call.name, arguments: args },
});

const headOf = (reply: Reply, object: string): object => ({
  id: `chatcmpl-${reply.id}`,
  object,
  created: reply.createdS,
  model: reply.model,
});

/** The reply as one body (`stream: false`). Thinking travels as `reasoning_content`, the name that compatible servers agreed on. */
export const chatBody = (reply: Reply): object => ({
  ...headOf(reply, 'chat.completion'),
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: reply.text === '' ? null : reply.text,
        refusal: null,
        ...(reply.thinking === '' ? {} : { reasoning_content: reply.thinking }),
        ...(reply.calls.length === 0 ? {} : { tool_calls: reply.calls.map((call) => callOf(call, call.input.text)) }),
      },
      finish_reason: finishReason(reply),
      logprobs: null,
    },
  ],
  usage: usageOf(reply),
});

/** The reply as a stream; the usage chunk comes always, because a client that did not ask for it ignores it. */
export function* chatEvents(reply: Reply): Generator<WireEvent> {
  const head = headOf(reply, 'chat.completion.chunk');
  const chunk = (delta: object, finish: string | null = null): WireEvent => ({
    name: undefined,
    data: { ...head, choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }] },
    piece: finish === null && !('role' in delta),
  });
  yield chunk({ role: 'assistant', content: '' });
  for (const piece of pieces(reply.thinking)) yield chunk({ reasoning_content: piece });
  for (const piece of pieces(reply.text)) yield chunk({ content: piece });
  for (const [index, call] of reply.calls.entries()) {
    yield chunk({ tool_calls: [{ index, ...callOf(call, '') }] });
    for (const piece of pieces(call.input.text)) yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield chunk({}, finishReason(reply));
  yield { name: undefined, data: { ...head, choices: [], usage: usageOf(reply) }, piece: false };
  yield { name: undefined, data: '[DONE]', piece: false };
}
