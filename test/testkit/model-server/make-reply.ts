// From a step of the script to a reply to this request.
import type { NeutralRequest } from './neutral.ts';
import type { Pick } from './pick.ts';
import type { Reply, ToolCall } from './reply.ts';
import { usualUsage } from './scenario.ts';
import { resolveOperation } from './tools.ts';

export interface ReplyTo {
  readonly request: NeutralRequest;
  readonly pick: Pick;
  /** Unique part of the ids in the reply. */
  readonly id: string;
}

/** The step as a reply: operations become calls of the agent's tools, each with an id of its own. */
export const makeReply = ({ request, pick, id }: ReplyTo): Reply => {
  const { step } = pick;
  const texts = [typeof step.text === 'function' ? step.text(pick.seen) : (step.text ?? '')];
  const calls: ToolCall[] = [];
  for (const [place, operation] of (step.ops ?? []).entries()) {
    const resolved = resolveOperation(operation, request);
    if (resolved.as === 'text') texts.push(resolved.text);
    else {
      const { name, namespace, input } = resolved;
      const text = typeof input === 'string' ? input : JSON.stringify(input);
      calls.push({ id: `${id}${place}`, name, namespace, input: { form: typeof input === 'string' ? 'free' : 'json', text } });
    }
  }
  return {
    id,
    model: request.model,
    createdS: Math.floor(Date.now() / 1000),
    thinking: step.thinking ?? '',
    text: texts.filter((text) => text !== '').join('\n'),
    calls,
    usage: { ...usualUsage, ...step.usage },
    stop: step.stop ?? 'natural',
  };
};

/** The same reply with every tool argument cut in half. */
export const withBrokenCalls = (reply: Reply): Reply => ({
  ...reply,
  calls: reply.calls.map((call) => ({
    ...call,
    input: { ...call.input, text: call.input.text.slice(0, Math.ceil(call.input.text.length / 2)) },
  })),
});
