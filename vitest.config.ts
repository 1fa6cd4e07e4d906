import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // What a failed test logged is shown; the request lines of those that passed are not.
    silent: 'passed-only',
    // More than there are cores, since several tests wait for timeouts.
    maxWorkers: 3,
    // The slowest wait is for a function's own timeout.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
