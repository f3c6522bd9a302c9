export * from './port.ts';
export { createRotatingLog, type RotatingLog } from './rotating-log.ts';
export { watchStalls } from './stall-watch.ts';
export { launchdPlist, systemdUnit, type ServiceRequest } from './service-files.ts';
