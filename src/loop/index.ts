export * from './port.ts';
export { tick } from './loop.ts';
export { reopenedInput } from './open-run.ts';
export { createTaskRun, taskRunName } from './run-task.ts';
export { attemptsOf, inputOf, interrupted, outputOf } from './run-record.ts';
export { dedupeKeyOf } from './admission.ts';
