// The door of process control: the contract, the host that fulfils it, and what tells one process from another.
export * from './port.ts';
export { createProcessHost, sourceShim } from './host.ts';
export type { HostOptions } from './host.ts';
export { identityOf, isAlive, sameProcess, selfIdentity } from './identity.ts';
export { viewOutput, type OutputView } from './read-output.ts';
export { holdBack, stepBack } from './priority.ts';
export { markName } from './process-table.ts';
export { sweepMarked } from './sweep.ts';
