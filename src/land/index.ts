export * from './port.ts';
export { createLander } from './lander.ts';
