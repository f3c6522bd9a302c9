// One request and its answer, and what is kept of it.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { FaultCounter } from './faults.ts';
import type { Wire } from './neutral.ts';
import type { Why } from './pick.ts';
import type { ReplyUsage, ScriptedFault, Scenarios } from './scenario.ts';

/** One request as it was served. */
export interface ServedRequest {
  /** Number of the request, from 1. */
  readonly n: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body. */
  body: unknown;
  /** Which step was played; undefined for a request that is no model call. */
  played: { readonly wire: Wire; readonly why: Why; readonly scenario: string; readonly key: string; readonly turn: number } | undefined;
  fault: ScriptedFault['fault'] | undefined;
  /** HTTP status; 0 while nothing was sent. */
  status: number;
  /** What the call cost, once the whole reply was sent. */
  usage: ReplyUsage | undefined;
  /** `open` while it is being answered, `whole` when the answer was sent, `cut` when the connection ended before that. */
  ended: 'open' | 'whole' | 'cut';
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly record: ServedRequest;
  readonly scenarios: Scenarios;
  readonly faults: FaultCounter;
}

export interface JsonAnswer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export const sendJson = ({ response, record }: Exchange, { status, body, headers }: JsonAnswer): void => {
  record.status = status;
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': `req_${record.n}`, ...headers });
  response.end(JSON.stringify(body));
};

/** Resolves when the answer was sent, or the connection ended before that. */
export const closed = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    if (response.destroyed) resolve();
    else response.once('close', () => resolve());
  });

/** Waits, but not for a client that has gone: a slow reply must not outlive its server. */
export const pauseWhileOpen = (response: ServerResponse, ms: number): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      response.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    response.once('close', done);
  });
