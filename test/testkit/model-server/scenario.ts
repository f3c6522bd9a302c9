// What a scripted model can be told to say. Terms:
//   scenario   a named list of steps, played to every conversation that asks for it
//   step       one reply of the model: text, thinking, operations, usage, stop reason, and what goes wrong on the way
//   operation  what the model wants done in the work tree, in neutral words; tools.ts finds the agent's own tool for it
//   fault      what goes wrong instead of, or during, a reply

/** Tokens of one model call. `input` is fresh input alone; `reasoning` is a part of `output`. */
export interface ReplyUsage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** What a step costs that says nothing of its own, so that a test can tell the true total by counting calls. */
export const usualUsage: ReplyUsage = { input: 1200, cacheRead: 9000, cacheWrite: 800, output: 60, reasoning: 0 };

export type Operation =
  /** A file with this content, new or replaced. Paths are relative to the agent's working folder. */
  | { readonly op: 'write'; readonly path: string; readonly content: string }
  /** One place of a file: `from` becomes `to`. */
  | { readonly op: 'edit'; readonly path: string; readonly from: string; readonly to: string }
  | { readonly op: 'read'; readonly path: string }
  | { readonly op: 'bash'; readonly command: string }
  /** An answer in the shape that the caller asked for: through its answer tool where it declared one, else as JSON text. */
  | { readonly op: 'answer'; readonly value: unknown }
  /** A call by name, passed on unchecked: unknown tools and wrong arguments are written this way. */
  | { readonly op: 'tool'; readonly name: string; readonly input: Readonly<Record<string, unknown>> };

/** How often a fault happens, per conversation key and turn, before the step is played as written. Default 1. */
export type Times = number | 'always';

export type ScriptedFault =
  /** An HTTP error, with the provider's own error body. */
  | { readonly fault: 'status'; readonly status: number; readonly retryAfterS?: number; readonly times?: Times }
  /** The prompt is longer than the model's context: a 400 with the provider's own code. */
  | { readonly fault: 'overflow'; readonly times?: Times }
  /** The connection is cut after the first piece of content. */
  | { readonly fault: 'drop'; readonly times?: Times }
  /** An error event after the first piece of content; a reply that is not streamed fails with the same error as its status. */
  | { readonly fault: 'error-event'; readonly times?: Times }
  /** The request is accepted and never answered, or the stream stops for ever after its first piece of content. */
  | { readonly fault: 'hang'; readonly at: 'start' | 'middle'; readonly times?: Times }
  /** A pause before every piece of content. */
  | { readonly fault: 'slow'; readonly chunkMs: number; readonly times?: Times }
  /** The arguments of every tool call end in the middle. Anthropic's whole (not streamed) reply cannot show this: it has `{}` instead. */
  | { readonly fault: 'broken-tool-json'; readonly times?: Times };

export interface Step {
  /** May look at what the model was shown, e.g. to prove that a resumed session remembers. */
  readonly text?: string | ((seen: Seen) => string);
  readonly thinking?: string;
  readonly ops?: readonly Operation[];
  readonly usage?: Partial<ReplyUsage>;
  /** Why the model stopped, where it is not the natural end: the token limit, or a safety filter. */
  readonly stop?: 'length' | 'refusal';
  readonly faults?: readonly ScriptedFault[];
}

/** What the model was shown. */
export interface Seen {
  /** Model turns since the text that picked the scenario; the number of this step. */
  readonly turn: number;
  /** Every text of the conversation, tool results too. */
  readonly conversation: string;
  readonly system: string;
}

export interface Scenario {
  /** Picks the scenario by what a user wrote, where no tag does. */
  readonly match?: RegExp | ((userText: string) => boolean);
  /** Past the end the last step is repeated without its operations: a script cannot keep an agent busy for ever. */
  readonly steps: readonly Step[];
}

/** By name: letters, digits, `-` and `_`. A bare list of steps is a scenario that only a tag picks. */
export type Scenarios = Readonly<Record<string, Scenario | readonly Step[]>>;

/** The same scenario in its long form. */
export const scenarioOf = (entry: Scenario | readonly Step[]): Scenario => ('steps' in entry ? entry : { steps: entry });
