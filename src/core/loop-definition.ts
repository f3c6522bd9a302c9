import type { StopPolicy } from './stop.ts';
import type { TriggerDefinition } from './trigger.ts';

// A loop as the engine sees it: every key resolved, no optional field whose absence would have a meaning of its own.

export type AgentDefinition =
  | {
      readonly use: 'claude';
      readonly model: string | undefined;
      readonly effort: string | undefined;
      readonly args: readonly string[];
      readonly command: string | undefined;
    }
  /** Any program, run by the shell in the workspace. */
  | { readonly use: 'command'; readonly command: string; readonly prompt: 'stdin' | 'file' }
  /** A YAML script of edits and outputs: no model. Path relative to the repository root as seen from the loop's folder. */
  | { readonly use: 'scripted'; readonly script: string };

export type DiscoverEntry =
  | {
      readonly from: 'tests';
      readonly command: string;
      readonly report: { readonly format: string | undefined; readonly file: string | undefined };
      readonly times: number;
      readonly timeoutMs: number;
    }
  | { readonly from: 'tasks'; readonly file: string }
  | { readonly from: 'command'; readonly command: string; readonly timeoutMs: number }
  /** Open issues that have all labels. `assignee`: a login, `none`, `*`, or whoever. */
  | { readonly from: 'issues'; readonly labels: readonly string[]; readonly assignee: string | undefined }
  /** One given condition (`gyre goal`). */
  | { readonly from: 'goal'; readonly condition: string; readonly check: string };

export interface CheckDefinition {
  readonly name: string;
  readonly command: string;
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, string>>;
  readonly report: { readonly format: string | undefined; readonly file: string | undefined };
}

export type LandingKind = 'report' | 'patch' | 'branch' | 'merge' | 'pull-request';

export interface LoopDefinition {
  readonly name: string;
  readonly description: string;
  /** Where the file stands, for messages; `(command line)` for `gyre goal`. */
  readonly file: string;
  /** What starts a tick (`on:`): at least one; `manual` alone where the file says nothing. */
  readonly triggers: readonly TriggerDefinition[];
  readonly discover: readonly DiscoverEntry[];
  readonly goal: string;
  readonly agent: AgentDefinition;
  readonly workspace: {
    readonly setup: string | undefined;
    readonly setupTimeoutMs: number;
    /** Folders that set-up fills, relative to the loop's folder, kept for other checkouts. Missing in runs of release 0.1. */
    readonly share?: readonly string[];
  };
  readonly verify: readonly CheckDefinition[];
  /** Globs, relative to the repository root. */
  readonly protect: readonly string[];
  readonly stop: StopPolicy & {
    /** For one agent session. */
    readonly sessionMs: number;
    /** Without any output of the agent. */
    readonly idleMs: number;
    /** Between the agent's final event and its end. */
    readonly resultGraceMs: number;
    /** Most bytes kept of one stream of one process. */
    readonly outputBytes: number;
  };
  readonly land: { readonly as: LandingKind; readonly target: string | undefined; readonly sign: 'auto' | 'never' };
  readonly parallel: number;
  /** Whether the issue a task is carries a note of its state. Missing in runs of release 0.1. */
  readonly notes?: 'none' | 'issue';
  /** The instruction to the agent: a strict Liquid template. */
  readonly body: string;
  /** Line of the file on which the body begins, for template errors. */
  readonly bodyLine: number;
}
