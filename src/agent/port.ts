import type { AgentChannel, AgentRunResult } from '../core/agent-result.ts';
import type { ProcessResult, ProcessSpec } from '../process/index.ts';

export interface AgentCapabilities {
  readonly cancel: 'signal';
  readonly turnLimit: boolean;
  readonly budgetLimit: boolean;
  readonly usage: 'per-run' | 'per-line' | 'none';
  readonly cost: boolean;
  readonly finalEvent: boolean;
  readonly resume: boolean;
}

export interface AgentRequest {
  /** Absolute folder of the workspace the agent works in (the loop's folder inside the worktree). */
  readonly cwd: string;
  /** File that holds the prompt, UTF-8. The prompt is never put into argv (one argument is limited to 128 KiB on Linux, and argv is public). */
  readonly promptFile: string;
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly limits: ProcessSpec['limits'];
  readonly marker: string;
}

export interface AgentProbe {
  readonly installed: boolean;
  readonly version: string | undefined;
  readonly path: string | undefined;
  /** One sentence and what to do, when it cannot be used. */
  readonly problem: string;
}

/** Reads one agent's output as it comes. Pure but for its own state; never throws on what an agent prints. */
export interface AgentReader {
  push(chunk: Uint8Array): void;
  /** True once the agent announced its final result: from here on it has `resultGraceMs` to end by itself. */
  readonly sawFinal: boolean;
  finish(input: { readonly process: ProcessResult; readonly wasAdopted: boolean; readonly stderrTail: string }): AgentRunResult;
}

/** One coding agent. What it says of its own success is never a verdict. */
export interface AgentAdapter {
  readonly id: string;
  readonly channel: AgentChannel;
  readonly capabilities: AgentCapabilities;
  /** For people, in every place that names the agent: e.g. `scripted (no model)`. */
  readonly label: string;
  probe(): Promise<AgentProbe>;
  spec(request: AgentRequest): ProcessSpec;
  reader(): AgentReader;
}
