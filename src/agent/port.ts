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

/** What an earlier attempt of the same run spent, so that running totals of a resumed session are not counted twice. */
export type EarlierSession = Pick<AgentRunResult, 'session' | 'usage' | 'spend'>;

export interface AgentRequest {
  /** Absolute folder of the workspace the agent works in (the loop's folder inside the worktree). */
  readonly cwd: string;
  /** File that holds the prompt, UTF-8. The prompt is never put into argv (one argument is limited to 128 KiB on Linux, and argv is public). */
  readonly promptFile: string;
  readonly run: string;
  /** Key of the task. */
  readonly task: string;
  readonly taskTitle: string;
  readonly attempt: number;
  readonly limits: ProcessSpec['limits'];
  /** US dollars left for this session, given to agents that can hold themselves to it; `undefined` means no such limit. */
  readonly budgetUsd: number | undefined;
  /** Results of the run's earlier attempts, oldest first. Empty on the first. */
  readonly earlier: readonly EarlierSession[];
  readonly marker: string;
}

export interface AgentProbe {
  readonly installed: boolean;
  readonly version: string | undefined;
  readonly path: string | undefined;
  /** One sentence and what to do, when it cannot be used; else empty. */
  readonly problem: string;
}

/** Reads one agent's output as it comes. Pure but for its own state; never throws on what an agent prints. */
export interface AgentReader {
  push(chunk: Uint8Array): void;
  /**
   * True while the agent's announced final result stands, or an error that only a person can mend and that it tries to outwait: it has
   * `resultGraceMs` to end by itself. Turns false again when the agent goes on working after all (a background sub-agent that reports,
   * a login that was renewed), so look again before ending the process.
   */
  readonly sawFinal: boolean;
  /** Call once, after the process has ended and every byte was pushed. */
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
  /** A reader for the process that `spec(request)` describes, whether it was started or adopted. */
  reader(request: AgentRequest): AgentReader;
}
