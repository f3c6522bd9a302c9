// The light half of the door, for reading loop files and for commands that only look: no server, no watchers.
export { cronProblem, shortestGapMs } from './cron.ts';
export { isZone, localText, zoneNames } from './zone.ts';
export { describeSchedule, type ScheduleView, type TriggerDescription } from './describe-schedule.ts';
