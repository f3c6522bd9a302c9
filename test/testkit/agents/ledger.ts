// Reads what the fixture agents noted about their calls.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface AgentCall {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly envNames: readonly string[];
  /** Epoch milliseconds, as all times here. */
  readonly startMs: number;
  /** Missing until the prompt was read to its end. */
  readonly promptBytes?: number;
  readonly promptSha256?: string;
  readonly promptMs?: number;
  /** Missing while it runs, and for ever when it was killed. */
  readonly endMs?: number;
}

export type AgentName =
  | 'silent'
  | 'chatty'
  | 'forks-holder'
  | 'ignores-signals'
  | 'edits-outside'
  | 'liar'
  | 'flood'
  | 'reads-stdin-first'
  | 'bytes'
  | 'slow-letters'
  | 'final-then-hang'
  | 'exits-mid-turn';

/** Absolute path of a fixture agent. */
export const agentPath = (name: AgentName): string => fileURLToPath(new URL(`${name}.mjs`, import.meta.url));

/** One record a call, in the order of their starts; empty when nobody was called. */
export const readLedger = (file: string): readonly AgentCall[] => {
  if (!existsSync(file)) return [];
  const calls = new Map<string, AgentCall>();
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const { event: _event, ...noted } = JSON.parse(line) as AgentCall & { readonly event: string };
    const key = `${noted.pid}/${noted.startMs}`;
    calls.set(key, { ...calls.get(key), ...noted });
  }
  return [...calls.values()];
};
