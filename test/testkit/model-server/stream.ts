// A reply as server-sent events, and the faults that strike in the middle of it.
import type { ServerResponse } from 'node:http';
import type { Exchange } from './exchange.ts';
import { closed, pauseWhileOpen } from './exchange.ts';
import { errorEvent } from './faults.ts';
import type { Wire } from './neutral.ts';
import type { Reply, WireEvent } from './reply.ts';
import type { ScriptedFault } from './scenario.ts';
import { anthropicEvents } from './wire-anthropic.ts';
import { chatEvents } from './wire-chat.ts';
import { responsesEvents } from './wire-responses.ts';

const writers = { anthropic: anthropicEvents, chat: chatEvents, responses: responsesEvents };

export interface Streaming {
  readonly exchange: Exchange;
  readonly wire: Wire;
  readonly reply: Reply;
  readonly fault: ScriptedFault | undefined;
}

const eventText = ({ name, data }: WireEvent): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

const flushed = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    response.once('close', () => resolve());
    response.write('', () => resolve());
  });

/** Streams the events. The first piece of content is where a connection drops, an error event comes or the stream stops. */
export const streamReply = async ({ exchange, wire, reply, fault }: Streaming): Promise<void> => {
  const { response, record } = exchange;
  record.status = 200;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'request-id': `req_${record.n}` });
  let sent = 0;
  for (const event of writers[wire](reply)) {
    if (response.destroyed) return;
    if (event.piece && fault?.fault === 'slow') await pauseWhileOpen(response, fault.chunkMs);
    response.write(eventText(event));
    sent += 1;
    if (!event.piece) continue;
    if (fault?.fault === 'drop') {
      // Only what was handed to the socket is on its way; cutting at once could lose the piece that the fault is about.
      await flushed(response);
      response.destroy();
      return;
    }
    if (fault?.fault === 'error-event') {
      response.end(eventText(errorEvent({ wire, reply, sequence: sent })));
      return;
    }
    if (fault?.fault === 'hang') return closed(response);
  }
  response.end();
  record.usage = reply.usage;
};
