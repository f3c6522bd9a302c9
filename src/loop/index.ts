export * from './port.ts';
export * from './read.ts';
export { createBreakers, type Breakers } from './breakers.ts';
export { createDispatcher, type Dispatcher, type DispatcherOptions } from './dispatcher.ts';
export { createTick } from './loop.ts';
export { planTick } from './plan-tick.ts';
export { reopenedInput } from './open-run.ts';
export type { Parked } from './retries.ts';
export { createTaskRun } from './run-task.ts';
