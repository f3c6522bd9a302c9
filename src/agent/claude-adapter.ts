import type { AgentDefinition } from '../core/loop-definition.ts';
import type { ProcessSpec } from '../process/index.ts';
import { ClaudeReader } from './claude-reader.ts';
import { agentEnvironment } from './environment.ts';
import type { EnvironmentRecord } from './environment.ts';
import { environmentOf } from './known-agents.ts';
import type { AgentAdapter, AgentRequest } from './port.ts';
import { probeCommand } from './probe-command.ts';
import { runVariables } from './run-variables.ts';

/** Cloud credentials, only where the user's own switch says that Claude Code reaches its model through that cloud. */
const cloudNames = (env: EnvironmentRecord): readonly string[] => [
  ...(env['CLAUDE_CODE_USE_BEDROCK'] === undefined ? [] : ['AWS_*']),
  ...(env['CLAUDE_CODE_USE_VERTEX'] === undefined ? [] : ['GOOGLE_*', 'GCLOUD_PROJECT', 'CLOUD_ML_REGION', 'VERTEX_REGION_*']),
];

/**
 * Claude Code in its print mode: the prompt on stdin, events as JSON lines on stdout. `acceptEdits` lets it write inside its folder and
 * refuses writes outside; Bash is allowed because nobody is there to ask. The definition's `args` come last, so they win.
 */
export const claudeAdapter = (
  definition: Extract<AgentDefinition, { use: 'claude' }>,
  parts: { readonly env: EnvironmentRecord; readonly home: string },
): AgentAdapter => {
  const command = definition.command ?? 'claude';
  const environment = agentEnvironment({ ...parts.env, HOME: parts.env['HOME'] ?? parts.home }, [
    ...environmentOf('claude'),
    ...cloudNames(parts.env),
  ]);

  const argsOf = (request: AgentRequest): readonly string[] => [
    '-p',
    '--output-format',
    'stream-json',
    '--verbose',
    // Takes any number of values, so another option must follow it.
    '--allowedTools',
    'Bash',
    '--permission-mode',
    'acceptEdits',
    ...(definition.model === undefined ? [] : ['--model', definition.model]),
    ...(definition.effort === undefined ? [] : ['--effort', definition.effort]),
    ...(request.budgetUsd === undefined ? [] : ['--max-budget-usd', request.budgetUsd.toFixed(6)]),
    ...definition.args,
  ];

  return {
    id: 'claude',
    channel: 'native',
    label: definition.model === undefined ? 'claude' : `claude (${definition.model})`,
    capabilities: {
      cancel: 'signal',
      turnLimit: true,
      budgetLimit: true,
      usage: 'per-run',
      cost: true,
      finalEvent: true,
      resume: true,
    },
    probe: () => probeCommand(command, environment),
    spec: (request): ProcessSpec => ({
      command,
      args: argsOf(request),
      cwd: request.cwd,
      env: { ...environment, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ...runVariables(request) },
      stdin: { kind: 'file', path: request.promptFile },
      limits: request.limits,
      marker: request.marker,
      whenOwnerDies: 'outlive',
      // On SIGINT it ends its tools and still prints a result; on SIGTERM it prints none and was seen to leave a tool behind.
      askSignal: 'SIGINT',
    }),
    reader: (request) => new ClaudeReader(request, [command, ...argsOf(request)]),
  };
};
