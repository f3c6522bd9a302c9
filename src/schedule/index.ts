export * from './port.ts';
export { createScheduler } from './scheduler.ts';
export { windowTimes, type WindowTimes } from './window-times.ts';
