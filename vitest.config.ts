import { defineConfig } from 'vitest/config';

/** Importing the CDK and synthesizing takes seconds: these files share processes, and do it once in each. */
const infrastructure = 'test/infra/{,stages/,service/**/,gateway/,metrics/,watch/}*.test.ts';

export default defineConfig({
  test: {
    globalSetup: 'test/support/assemblyFolder.ts',
    // What a failed test logged is shown; the request lines of those that passed are not.
    silent: 'passed-only',
    // More than there are cores, since several tests wait for timeouts.
    maxWorkers: 3,
    // The slowest wait is for a function's own timeout, and a busy machine takes its time.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    projects: [
      {
        extends: true,
        test: { name: 'service', include: ['test/**/*.test.ts'], exclude: [infrastructure] },
      },
      {
        extends: true,
        test: { name: 'infrastructure', include: [infrastructure], isolate: false },
      },
    ],
  },
});
