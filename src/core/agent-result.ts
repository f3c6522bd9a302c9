import type { EpochMs } from './ids.ts';
import type { ModelUsage, Spend } from './spend.ts';

const errorClasses = [
  'auth',
  'billing',
  'rate-limit',
  'overloaded',
  'server',
  'network',
  'context-overflow',
  'output-limit',
  'refusal',
  'permission',
  'config',
  'agent-bug',
  'unknown',
] as const;

/** Why an agent could not work, in classes that decide what happens next. */
export type AgentErrorClass = (typeof errorClasses)[number];

export const isAgentErrorClass = (text: string | undefined): text is AgentErrorClass =>
  (errorClasses as readonly (string | undefined)[]).includes(text);

/** How the session ended, by the adapter's reading of several signals. `completed` means "the agent stopped", never "the task is done". */
export type AgentOutcome =
  | { readonly outcome: 'completed' }
  | {
      readonly outcome: 'failed';
      readonly error: {
        readonly class: AgentErrorClass;
        readonly message: string;
        readonly retryable: boolean;
        readonly httpStatus: number | undefined;
        /** When the service said it serves again, always after it was said; `undefined` where it did not say. Missing in runs of release 0.1. */
        readonly resetAt: EpochMs | undefined;
      };
    }
  | { readonly outcome: 'cancelled' }
  | { readonly outcome: 'timed-out'; readonly limit: 'deadline' | 'idle'; readonly limitMs: number }
  | { readonly outcome: 'limit'; readonly limit: 'turns' | 'budget' | 'tokens' | 'context' }
  /** No terminal event, or the process died of something nobody sent. */
  | { readonly outcome: 'crashed'; readonly why: string };

/** A raw stream as it was kept. Bytes beyond the cap were cut from the middle and the file says so. */
export interface StreamRecord {
  readonly path: string;
  readonly bytesSeen: number;
  readonly bytesKept: number;
  readonly cut: boolean;
}

export interface ProcessFacts {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly wallMs: number;
  /** Descendants that had left the process group and were ended by the sweep. */
  readonly orphansKilled: number;
  /** True when the final result, or a refusal that only a person can mend, was there and the process went on: Gyre ended it after a grace. */
  readonly endedAfterResult: boolean;
  /** True when a restarted engine took over a process that its predecessor had started. */
  readonly wasAdopted: boolean;
}

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly ok: boolean;
}

/** What every agent run gives back, whatever the agent. */
export interface AgentRunResult {
  readonly agent: {
    readonly id: string;
    readonly version: string | undefined;
    readonly channel: AgentChannel;
    readonly command: readonly string[];
  };
  readonly session: { readonly id: string | undefined; readonly resumable: boolean };
  readonly result: AgentOutcome;
  readonly process: ProcessFacts;
  /** The agent's last words, plain text, cut to 16,000 characters. A claim, never a fact. */
  readonly text: string;
  readonly usage: readonly ModelUsage[];
  /** `agent`: the agent's own numbers; `none`: it gave none (then spend is unknown); `no-model`: no model was called. */
  readonly usageSource: 'agent' | 'none' | 'no-model';
  readonly spend: Spend;
  readonly turns: number;
  readonly tools: readonly ToolUse[];
  readonly denials: readonly { readonly tool: string; readonly by: 'policy' | 'agent' }[];
  readonly retries: number;
  readonly stdout: StreamRecord;
  readonly stderr: StreamRecord;
  readonly stderrTail: string;
}

export type AgentChannel = 'native' | 'raw' | 'scripted';

/** An agent that was stopped by its surroundings cannot be blamed for its work: such attempts do not feed evidence back as if they did. */
export const isEnvironmental = (error: AgentErrorClass): boolean =>
  error === 'auth' ||
  error === 'billing' ||
  error === 'network' ||
  error === 'config' ||
  error === 'rate-limit' ||
  error === 'overloaded' ||
  error === 'server';
