import { defineConfig } from 'vitest/config';

/** A function reads its settings when it is loaded: each of these files has the process to itself. */
const conformance = 'test/conformance/**/*.test.ts';

export default defineConfig({
  test: {
    globalSetup: 'test/support/globalSetup.ts',
    // What a failed test logged is shown; the request lines of those that passed are not.
    silent: 'passed-only',
    // More than there are cores, since several tests wait for timeouts.
    maxWorkers: 3,
    // The slowest wait is for a function's own timeout, and a busy machine takes its time.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    projects: [
      { extends: true, test: { name: 'conformance', include: [conformance] } },
      {
        extends: true,
        // The others share processes, in which the CDK and the SDK are loaded once.
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [conformance],
          isolate: false,
        },
      },
    ],
  },
});
