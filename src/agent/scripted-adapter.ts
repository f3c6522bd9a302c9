import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Defect, Rejection } from '../core/fault.ts';
import type { AgentDefinition } from '../core/loop-definition.ts';
import type { ProcessSpec } from '../process/index.ts';
import { agentEnvironment } from './environment.ts';
import type { EnvironmentRecord } from './environment.ts';
import type { AgentAdapter, AgentProbe } from './port.ts';
import { runVariables } from './run-variables.ts';
import { parseScript } from './script-format.ts';
import { ScriptedReader } from './scripted-reader.ts';

const probeScript = async (script: string): Promise<AgentProbe> => {
  const found = { installed: true, version: undefined, path: script, problem: '' };
  const source = await readFile(script, 'utf8').catch(() => undefined);
  if (source === undefined)
    return { ...found, installed: false, problem: `The script ${script} cannot be read. Correct the path in \`agent.script\`.` };
  try {
    parseScript(source, script);
    return found;
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    const issue = error.issues[0];
    const where =
      issue === undefined ? '' : ` Line ${issue.origin.line ?? 1}, ${issue.key || 'file'}: found ${issue.found}, wanted ${issue.wanted}.`;
    return { ...found, problem: `${error.message}${where}` };
  }
};

/**
 * An agent without a model: it performs the steps of a YAML file. For trying a loop at no cost, for demonstrations, and for tests.
 * @param parts.scriptRunner argv of the runner's program, to which the script's path is added
 * @param parts.scriptDir absolute folder that the definition's `script` is relative to
 */
export const scriptedAdapter = (
  definition: Extract<AgentDefinition, { use: 'scripted' }>,
  parts: { readonly env: EnvironmentRecord; readonly home: string; readonly scriptRunner: readonly string[]; readonly scriptDir: string },
): AgentAdapter => {
  const environment = agentEnvironment({ ...parts.env, HOME: parts.env['HOME'] ?? parts.home }, []);
  const script = path.resolve(parts.scriptDir, definition.script);
  const [program, ...before] = parts.scriptRunner;
  if (program === undefined) throw new Defect('The scripted agent was composed without a runner.');
  const args = [...before, script];
  return {
    id: 'scripted',
    channel: 'scripted',
    label: 'scripted (no model)',
    capabilities: {
      cancel: 'signal',
      turnLimit: false,
      budgetLimit: false,
      usage: 'none',
      cost: false,
      finalEvent: false,
      resume: false,
    },
    probe: () => probeScript(script),
    spec: (request): ProcessSpec => ({
      command: program,
      args,
      cwd: request.cwd,
      env: { ...environment, ...runVariables(request) },
      stdin: { kind: 'file', path: request.promptFile },
      limits: request.limits,
      marker: request.marker,
      whenOwnerDies: 'outlive',
      askSignal: 'SIGTERM',
    }),
    reader: (request) => new ScriptedReader(request, [program, ...args]),
  };
};
