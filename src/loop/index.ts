export * from './port.ts';
export * from './read.ts';
export { tick } from './loop.ts';
export { reopenedInput } from './open-run.ts';
export { createTaskRun } from './run-task.ts';
