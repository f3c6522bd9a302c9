export type { ModelServer, ModelServerOptions } from './server.ts';
export { startModelServer } from './server.ts';
export type { ServedRequest } from './exchange.ts';
export type { Operation, ReplyUsage, Scenario, Scenarios, ScriptedFault, Seen, Step, Times } from './scenario.ts';
export { usualUsage } from './scenario.ts';
export { parseScenarios, readScenarios } from './scenario-file.ts';
export { standardScenarios } from './standard-scenarios.ts';
