export * from './port.ts';
export { createDiscoverer } from './discoverer.ts';
