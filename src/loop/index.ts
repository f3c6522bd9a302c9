export * from './port.ts';
export { tick, reopenedInput } from './loop.ts';
export { createTaskRun, taskRunName } from './run-task.ts';
export { attemptsOf, inputOf, interrupted, outputOf } from './run-record.ts';
export { dedupeKeyOf } from './admission.ts';
