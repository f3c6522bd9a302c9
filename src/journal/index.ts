export type * from './port.ts';
export { requestCancel } from './cancel-requests.ts';
export { CancelledError } from './cancelled-error.ts';
export { openEngine } from './open-engine.ts';
export { openReader } from './reader.ts';
export { requestSignal, requestStart, requestState } from './requests.ts';
export { runJobsFolder } from './names.ts';
export { isOpen, openStates } from './run-state.ts';
