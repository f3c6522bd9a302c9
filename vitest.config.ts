import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real git and real processes: a test may need several seconds on a busy two-core machine.
    testTimeout: 180_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    globalSetup: ['test/testkit/build.ts'],
    reporters: ['default'],
  },
});
