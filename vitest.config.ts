import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The CDK, the SDK and the emulator take longer to load than most files to run.
    isolate: false,
    globalSetup: 'test/support/globalSetup.ts',
    // What a failed test logged is shown; the request lines of those that passed are not.
    silent: 'passed-only',
    // More than there are cores, since several tests wait for timeouts.
    maxWorkers: 4,
    // The slowest wait is for a function's own timeout, and a busy machine takes its time.
    testTimeout: 60_000,
    hookTimeout: 180_000,
  },
});
