// The scripted model server: a loopback HTTP server that plays a scripted model to real agents, without a network and without
// dependencies. Three protocols: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer } from './answer.ts';
import type { ServedRequest } from './exchange.ts';
import type { FaultCounter } from './faults.ts';
import type { Scenarios } from './scenario.ts';

export interface ModelServerOptions {
  readonly scenarios: Scenarios;
  /** Called once for each request, when its answer has ended. */
  readonly log?: (request: ServedRequest) => void;
  /** TCP port on 127.0.0.1; 0, the default, takes a free one. */
  readonly port?: number;
  /** Most requests kept in `requests`; the oldest go first. Default 2,000. */
  readonly requestsMax?: number;
}

export interface ModelServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, without `/v1`. */
  readonly url: string;
  readonly port: number;
  /** Every request in the order of arrival, those still being answered too. */
  readonly requests: readonly ServedRequest[];
}

const listening = (server: ReturnType<typeof createServer>, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });

/**
 * Starts the server. Disposing it ends every connection at once, hanging ones too, and frees the port.
 * @throws the system's error when the port is taken
 */
export const startModelServer = async (options: ModelServerOptions): Promise<ModelServer> => {
  const requests: ServedRequest[] = [];
  const faults: FaultCounter = new Map();
  const requestsMax = options.requestsMax ?? 2000;
  let count = 0;

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const record: ServedRequest = {
      n: ++count,
      method: request.method ?? '',
      path: new URL(request.url ?? '/', 'http://loopback').pathname,
      headers: request.headers,
      body: undefined,
      played: undefined,
      fault: undefined,
      status: 0,
      usage: undefined,
      ended: 'open',
    };
    requests.push(record);
    if (requests.length > requestsMax) requests.shift();
    await answer({ request, response, record, scenarios: options.scenarios, faults });
    options.log?.(record);
  };
  // `answer` turns its own failures into a 500; what reaches the catch is a broken log function, which must not end the process.
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  // Agents probe for WebSocket: a clear refusal makes them fall back to HTTP.
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\n\r\n'));
  const port = await listening(server, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
