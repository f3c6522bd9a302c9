// One model call: the picked step, or the fault that comes in its place.
import type { Exchange } from './exchange.ts';
import { closed, pauseWhileOpen, sendJson } from './exchange.ts';
import { apiError, overflowError, overloadedError, takeFault } from './faults.ts';
import { makeReply, withBrokenCalls } from './make-reply.ts';
import type { NeutralRequest } from './neutral.ts';
import type { Pick } from './pick.ts';
import type { Reply } from './reply.ts';
import type { ScriptedFault } from './scenario.ts';
import { streamReply } from './stream.ts';
import { anthropicBody } from './wire-anthropic.ts';
import { chatBody } from './wire-chat.ts';
import { responsesBody } from './wire-responses.ts';

const bodies = { anthropic: anthropicBody, chat: chatBody, responses: responsesBody };

export interface Call {
  readonly exchange: Exchange;
  readonly neutral: NeutralRequest;
  readonly pick: Pick;
  /** Unique part of the ids in the reply. */
  readonly id: string;
}

/** Faults that come before any reply. True when one was given and the exchange is over. */
const refuse = async ({ exchange, neutral }: Call, fault: ScriptedFault): Promise<boolean> => {
  const { wire, stream } = neutral;
  switch (fault.fault) {
    case 'status': {
      const { status, retryAfterS } = fault;
      const headers: Record<string, string> = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) };
      sendJson(exchange, { ...apiError(wire, { status }), headers });
      return true;
    }
    case 'overflow':
      sendJson(exchange, overflowError(wire));
      return true;
    case 'hang':
      if (fault.at === 'middle' && stream) return false;
      await closed(exchange.response);
      return true;
    case 'drop':
      if (!stream) exchange.response.destroy();
      return !stream;
    case 'error-event':
      if (!stream) sendJson(exchange, overloadedError(wire));
      return !stream;
    case 'slow':
      if (!stream) await pauseWhileOpen(exchange.response, fault.chunkMs);
      return false;
    case 'broken-tool-json':
      return false;
  }
};

const sendWhole = ({ exchange, neutral }: Call, reply: Reply): void => {
  sendJson(exchange, { status: 200, body: bodies[neutral.wire](reply) });
  exchange.record.usage = reply.usage;
};

/** Plays the step to the end of the exchange. */
export const play = async (call: Call): Promise<void> => {
  const { exchange, neutral, pick, id } = call;
  const { why, scenario, key, turn } = pick;
  const fault = takeFault(pick, exchange.faults);
  exchange.record.played = { wire: neutral.wire, why, scenario, key, turn };
  exchange.record.fault = fault?.fault;
  if (fault !== undefined && (await refuse(call, fault))) return;
  const whole = makeReply({ request: neutral, pick, id });
  const reply = fault?.fault === 'broken-tool-json' ? withBrokenCalls(whole) : whole;
  if (neutral.stream) await streamReply({ exchange, wire: neutral.wire, reply, fault });
  else sendWhole(call, reply);
};
