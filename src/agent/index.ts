export * from './port.ts';
export { createAgent } from './create-agent.ts';
export type { AgentParts } from './create-agent.ts';
export { agentEnvironment } from './environment.ts';
export type { EnvironmentRecord } from './environment.ts';
export { knownAgents } from './known-agents.ts';
export type { KnownAgent } from './known-agents.ts';
export { probeCommand } from './probe-command.ts';
