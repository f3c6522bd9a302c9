import type { AgentDefinition } from '../core/loop-definition.ts';
import { claudeAdapter } from './claude-adapter.ts';
import { commandAdapter } from './command-adapter.ts';
import type { EnvironmentRecord } from './environment.ts';
import type { AgentAdapter } from './port.ts';
import { scriptedAdapter } from './scripted-adapter.ts';

export interface AgentParts {
  /** The engine's own environment; agents get only the allowed part of it. */
  readonly env: EnvironmentRecord;
  /** The user's home folder, for an engine that was started without HOME. */
  readonly home: string;
  /** argv of the scripted agent's program, e.g. `[process.execPath, '.../scripted-runner.ts']`. */
  readonly scriptRunner: readonly string[];
  /** Absolute folder that a scripted agent's `script` is relative to. */
  readonly scriptDir: string;
}

/** The adapter for an agent as a loop defines it. Starts nothing. */
export const createAgent = (definition: AgentDefinition, parts: AgentParts): AgentAdapter => {
  switch (definition.use) {
    case 'claude':
      return claudeAdapter(definition, parts);
    case 'command':
      return commandAdapter(definition, parts);
    case 'scripted':
      return scriptedAdapter(definition, parts);
  }
};
