import { tmpdir } from 'node:os';
import { join } from 'node:path';

const runner = new URL('./runner.ts', import.meta.url).href;

/** Mutation testing of `shared/`: `npm run mutate`, or of a part: `npm run mutate -- -m 'shared/keys/**'`. */
export default {
  plugins: ['@stryker-mutator/vitest-runner', runner],
  testRunner: 'petstore',
  // Threads end with the runner: a fork in a mutant's endless loop would outlive it.
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false, pool: 'threads' },
  mutate: ['shared/**/*.ts', '!shared/client/examples/**'],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 30_000,
  // Outside the checkout, and outside node_modules, where Node and vitest take files for JavaScript.
  tempDirName: join(tmpdir(), 'petstore-mutation'),
  cleanTempDir: 'always',
  disableTypeChecks: false,
  // TypeScript 7 has no API to read a tsconfig. No file has this name, so Stryker reads none.
  tsconfigFile: 'none',
  reporters: ['clear-text', 'json', 'html'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: 'node_modules/.cache/mutation/mutation.json' },
  htmlReporter: { fileName: 'node_modules/.cache/mutation/mutation.html' },
  incrementalFile: 'node_modules/.cache/mutation/incremental.json',
  allowConsoleColors: false,
};
