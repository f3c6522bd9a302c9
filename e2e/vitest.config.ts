import path from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: path.dirname(import.meta.dirname),
    include: ['e2e/test/**/*.test.ts'],
    globalSetup: ['e2e/require-agents.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Starting an agent takes a whole core.
    maxWorkers: 2,
  },
});
