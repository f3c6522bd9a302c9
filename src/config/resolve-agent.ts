import type { Issue } from '../core/fault.ts';
import type { AgentDefinition } from '../core/loop-definition.ts';
import { entryDefaults } from './defaults.ts';
import { builtAgents, type AgentInput } from './agent-schema.ts';
import { nearest } from '../core/nearest.ts';
import type { OrIssues } from './or-issues.ts';
import type { Layer } from './read-layer.ts';
import type { Path } from './yaml-source.ts';

type AgentMap = Exclude<AgentInput, string>;

/** Agents that a reader may expect and this version does not drive: naming one is not a typo. */
const laterAgents: readonly string[] = [
  'acp',
  'aider',
  'amp',
  'antigravity',
  'auggie',
  'cline',
  'codex',
  'copilot',
  'crush',
  'cursor',
  'droid',
  'gemini',
  'goose',
  'hermes',
  'kimi',
  'opencode',
  'openhands',
  'pi',
  'qwen',
];

/** Keys that mean something for each agent, besides `use`. */
const keysOf: Readonly<Record<AgentDefinition['use'], readonly (keyof AgentMap)[]>> = {
  claude: ['model', 'effort', 'args', 'command'],
  command: ['command', 'prompt'],
  scripted: ['script'],
};

export interface AgentPlace {
  readonly path: Path;
  readonly originOf: Layer<unknown>['originOf'];
  /** Presets of gyre.yaml. A preset may bear the name of an agent and then stands for it. */
  readonly presets: Readonly<Record<string, AgentMap>>;
}

const isBuilt = (name: string): name is AgentDefinition['use'] => (builtAgents as readonly string[]).includes(name);

const notAnAgent = (name: string, { path, originOf, presets }: AgentPlace): Issue => {
  const available = [...builtAgents, ...Object.keys(presets)];
  const isLater = laterAgents.includes(name);
  const near = isLater ? undefined : nearest(name, [...available, ...laterAgents]);
  return {
    origin: originOf(path, 'value'),
    key: path.join('.'),
    found: isLater ? `${name}, which is not available in this version` : JSON.stringify(name.slice(0, 60)),
    wanted: `one of ${available.join(', ')}${isLater ? ` (run any program with use: command)` : ''}`,
    ...(near === undefined ? {} : { nearest: near }),
  };
};

const fromMap = (input: AgentMap, place: AgentPlace): OrIssues<AgentDefinition> => {
  const { path, originOf } = place;
  const { use } = input;
  if (!isBuilt(use)) return [notAnAgent(use, { ...place, path: [...path, 'use'], presets: {} })];
  const fitting = keysOf[use];
  const issues: Issue[] = Object.keys(input)
    .filter((key) => key !== 'use' && !(fitting as readonly string[]).includes(key))
    .map((key) => ({
      origin: originOf([...path, key], 'key'),
      key: [...path, key].join('.'),
      found: `a key that use: ${use} does not have`,
      wanted: `one of use, ${fitting.join(', ')}`,
    }));
  const missing = (key: string): Issue => ({
    origin: originOf(path, 'value'),
    key: [...path, key].join('.'),
    found: 'nothing',
    wanted: `${key}, because use is ${use}`,
  });
  if (use === 'command' && input.command === undefined) issues.push(missing('command'));
  if (use === 'scripted' && input.script === undefined) issues.push(missing('script'));
  if (issues.length > 0) return issues;
  switch (use) {
    case 'claude':
      return { use, model: input.model, effort: input.effort, args: input.args ?? [], command: input.command };
    case 'command':
      return { use, command: input.command ?? '', prompt: input.prompt ?? entryDefaults.prompt };
    case 'scripted':
      return { use, script: input.script ?? '' };
  }
};

/** The agent that a name or a map stands for, or everything wrong with it. */
export const resolveAgent = (input: AgentInput, place: AgentPlace): OrIssues<AgentDefinition> => {
  if (typeof input !== 'string') return fromMap(input, place);
  const preset = Object.hasOwn(place.presets, input) ? place.presets[input] : undefined;
  // What is wrong inside a preset is reported where the preset stands.
  if (preset !== undefined) return fromMap(preset, place);
  if (input === 'claude') return fromMap({ use: 'claude' }, place);
  if (!isBuilt(input)) return [notAnAgent(input, place)];
  const key = input === 'command' ? 'command: "<command line>"' : 'script: <file>';
  return [
    {
      origin: place.originOf(place.path, 'value'),
      key: place.path.join('.'),
      found: `${input} alone`,
      wanted: `{ use: ${input}, ${key} }`,
    },
  ];
};
