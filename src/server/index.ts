export * from './port.ts';
export { createRotatingLog, type RotatingLog } from './rotating-log.ts';
export { launchdPlist, systemdUnit, type ServiceRequest } from './service-files.ts';
