import type { AgentDefinition } from '../core/loop-definition.ts';

/** The name under which limits of an agent are counted. */
export const agentNameOf = (agent: AgentDefinition): string => agent.use;

const providers: Readonly<Record<AgentDefinition['use'], string>> = { claude: 'anthropic', command: 'command', scripted: 'none' };

/** Whose quota an agent uses. A command may call anybody: all commands count as one. */
export const providerOf = (agent: AgentDefinition): string => providers[agent.use];
