import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The CDK, the SDK and the emulator take longer to load than most files to run.
    isolate: false,
    globalSetup: 'test/support/suite/globalSetup.ts',
    // What a failed test logged is shown, without vitest's own hand in it.
    setupFiles: ['test/support/suite/outputOfFailures.ts', 'test/support/suite/testStages.ts'],
    disableConsoleIntercept: true,
    // One more than there are cores on a small machine, since some tests wait; each more loads the CDK and the SDK again.
    maxWorkers: 3,
    // Most objects of a test are short-lived: more room for them saves most of the garbage collector's work.
    execArgv: ['--max-semi-space-size=64'],
    // A busy machine takes its time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 100_000 } },
  },
});
