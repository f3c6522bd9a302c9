import type { AgentDefinition } from '../core/loop-definition.ts';
import type { ProcessSpec } from '../process/index.ts';
import { CommandReader } from './command-reader.ts';
import { agentEnvironment } from './environment.ts';
import type { EnvironmentRecord } from './environment.ts';
import { environmentOfAll } from './known-agents.ts';
import type { AgentAdapter } from './port.ts';
import { findProgram, probeCommand } from './probe-command.ts';
import { runVariables } from './run-variables.ts';

// Words that the shell itself understands, so that they stand in no folder of PATH.
const shellWords = new Set([
  'cd',
  'exec',
  'set',
  'export',
  'if',
  'for',
  'while',
  'case',
  'until',
  'command',
  'eval',
  'test',
  'true',
  'false',
  'echo',
  'printf',
  'exit',
]);

/** The program that a command line starts with, where that is plain to see; `undefined` otherwise. */
export const programOf = (command: string): string | undefined => {
  const word = command.trim().split(/\s+/, 1)[0] ?? '';
  return /^[\w.+-]+$/.test(word) && !shellWords.has(word) ? word : undefined;
};

/** Any program, run by the shell in the workspace. What it leaves in the tree, or commits, is the candidate. */
export const commandAdapter = (
  definition: Extract<AgentDefinition, { use: 'command' }>,
  parts: { readonly env: EnvironmentRecord; readonly home: string },
): AgentAdapter => {
  const environment = agentEnvironment({ ...parts.env, HOME: parts.env['HOME'] ?? parts.home }, environmentOfAll);
  const argv = ['sh', '-c', definition.command] as const;
  return {
    id: 'command',
    channel: 'raw',
    label: 'command',
    capabilities: {
      cancel: 'signal',
      turnLimit: false,
      budgetLimit: false,
      usage: 'per-line',
      cost: true,
      finalEvent: false,
      resume: false,
    },
    probe: async () => {
      const program = programOf(definition.command);
      if (program !== undefined && (await findProgram(program, environment)) === undefined) return probeCommand(program, environment);
      return { installed: true, version: undefined, path: await findProgram(program ?? 'sh', environment), problem: '' };
    },
    spec: (request): ProcessSpec => ({
      command: argv[0],
      args: argv.slice(1),
      cwd: request.cwd,
      env: { ...environment, ...runVariables(request) },
      stdin: definition.prompt === 'stdin' ? { kind: 'file', path: request.promptFile } : { kind: 'none' },
      limits: request.limits,
      marker: request.marker,
      whenOwnerDies: 'outlive',
      askSignal: 'SIGTERM',
    }),
    reader: (request) => new CommandReader(request, argv),
  };
};
