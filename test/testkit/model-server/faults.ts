// What goes wrong, in each provider's own words. Sources: Anthropic API reference, "Errors" (error types, and the `error` event that
// may follow a 200 in a stream); OpenAI API guide, "Error codes", and API reference, "Streaming events" (`response.failed`).
import type { Wire } from './neutral.ts';
import type { Pick } from './pick.ts';
import type { Reply, WireEvent } from './reply.ts';
import type { ScriptedFault } from './scenario.ts';
import { responsesFailure } from './wire-responses.ts';

/** Counts faults already given. The one thing that the server remembers between requests. */
export type FaultCounter = Map<string, number>;

/** The first fault of the step that has not happened often enough yet, counted as given. */
export const takeFault = (pick: Pick, counter: FaultCounter): ScriptedFault | undefined => {
  for (const [place, fault] of (pick.step.faults ?? []).entries()) {
    const id = [pick.scenario, pick.key, pick.turn, place].join(' ');
    const given = counter.get(id) ?? 0;
    const times = fault.times ?? 1;
    if (times !== 'always' && given >= times) continue;
    counter.set(id, given + 1);
    return fault;
  }
  return undefined;
};

export interface ApiError {
  readonly status: number;
  readonly body: object;
}

interface Words {
  readonly anthropic: string;
  readonly openai: readonly [type: string, code: string];
  readonly sentence: string;
}

const byStatus: Readonly<Record<number, Words>> = {
  400: { anthropic: 'invalid_request_error', openai: ['invalid_request_error', 'invalid_request'], sentence: 'The request is not valid.' },
  401: { anthropic: 'authentication_error', openai: ['invalid_request_error', 'invalid_api_key'], sentence: 'The API key is not valid.' },
  402: { anthropic: 'billing_error', openai: ['insufficient_quota', 'insufficient_quota'], sentence: 'Your credit balance is too low.' },
  403: { anthropic: 'permission_error', openai: ['invalid_request_error', 'permission_denied'], sentence: 'The API key may not do this.' },
  404: { anthropic: 'not_found_error', openai: ['invalid_request_error', 'not_found'], sentence: 'There is nothing here.' },
  413: { anthropic: 'request_too_large', openai: ['invalid_request_error', 'request_too_large'], sentence: 'The request is too large.' },
  429: { anthropic: 'rate_limit_error', openai: ['requests', 'rate_limit_exceeded'], sentence: 'The rate limit is reached.' },
  500: { anthropic: 'api_error', openai: ['server_error', 'server_error'], sentence: 'The server had an error.' },
  503: { anthropic: 'overloaded_error', openai: ['server_error', 'server_is_overloaded'], sentence: 'The server is overloaded.' },
  529: { anthropic: 'overloaded_error', openai: ['server_error', 'server_is_overloaded'], sentence: 'Overloaded' },
};

const wordsOf = (status: number): Words => {
  const words = byStatus[status] ?? byStatus[status >= 500 ? 500 : 400];
  if (words === undefined) throw new Error(`No words for status ${status}.`);
  return words;
};

/** An error body in the provider's shape. `sentence` replaces the usual one. */
export const apiError = (wire: Wire, { status, sentence }: { readonly status: number; readonly sentence?: string }): ApiError => {
  const words = wordsOf(status);
  const message = sentence ?? words.sentence;
  const [type, code] = words.openai;
  return wire === 'anthropic'
    ? { status, body: { type: 'error', error: { type: words.anthropic, message }, request_id: 'req_scripted' } }
    : { status, body: { error: { message, type, param: null, code } } };
};

/** The prompt does not fit the model's context. Agents tell this 400 from others by Anthropic's sentence and by OpenAI's code. */
export const overflowError = (wire: Wire): ApiError => {
  if (wire === 'anthropic') return apiError(wire, { status: 400, sentence: 'prompt is too long: 210000 tokens > 200000 maximum' });
  const message = 'Your input exceeds the context window of this model. Please adjust your input and try again.';
  return { status: 400, body: { error: { message, type: 'invalid_request_error', param: 'input', code: 'context_length_exceeded' } } };
};

/** What an `error-event` is where the reply is not streamed. */
export const overloadedError = (wire: Wire): ApiError => apiError(wire, { status: wire === 'anthropic' ? 529 : 503 });

export interface Failing {
  readonly wire: Wire;
  readonly reply: Reply;
  /** Events sent so far, which Responses counts. */
  readonly sequence: number;
}

/** The event that a provider sends when it fails after the stream began. */
export const errorEvent = ({ wire, reply, sequence }: Failing): WireEvent => {
  const { body } = overloadedError(wire);
  switch (wire) {
    case 'anthropic':
      return { name: 'error', data: body, piece: false };
    case 'chat':
      return { name: undefined, data: body, piece: false };
    case 'responses':
      return responsesFailure(reply, sequence);
  }
};
