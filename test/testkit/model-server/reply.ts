// A model's reply in neutral form, and the events of a stream. wire-*.ts turn the one into the other and into a whole body.
import type { ReplyUsage } from './scenario.ts';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly namespace: string | undefined;
  /** `json` is the text of the arguments as it goes over the wire (it may be broken on purpose); `free` is a custom tool's text. */
  readonly input: { readonly form: 'json' | 'free'; readonly text: string };
}

export interface Reply {
  /** Unique part of every id in the reply. */
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970, for the fields that want a time. */
  readonly createdS: number;
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: ReplyUsage;
  readonly stop: 'natural' | 'length' | 'refusal';
}

/** One server-sent event (WHATWG HTML, "Server-sent events"). */
export interface WireEvent {
  /** The `event:` line; Chat Completions has none. */
  readonly name: string | undefined;
  /** Goes out as JSON; a string goes out as it is. */
  readonly data: unknown;
  /** True for a piece of content: faults in the middle of a stream happen after the first of these. */
  readonly piece: boolean;
}

export const piecesMax = 2000;

/** A text in the pieces in which a model would stream it: whole characters, about a word each, never more than `piecesMax`. */
export const pieces = (text: string): readonly string[] => {
  const letters = Array.from(text);
  const size = Math.max(24, Math.ceil(letters.length / piecesMax));
  return Array.from({ length: Math.ceil(letters.length / size) }, (_, i) => letters.slice(i * size, (i + 1) * size).join(''));
};

/** Input tokens as OpenAI counts them: cache included. */
export const inputWithCache = (usage: ReplyUsage): number => usage.input + usage.cacheRead + usage.cacheWrite;
