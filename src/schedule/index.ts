export * from './port.ts';
export { createScheduler } from './scheduler.ts';
export { decideWindows, nextDue, type TimeView, type WindowDecisions } from './decide-windows.ts';
export { windowTimes, type WindowTimes } from './window-times.ts';
export { triggerIssues } from './trigger-issues.ts';
