import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Stryker } from '@stryker-mutator/core';

// `npm run mutate` mutates each folder of `shared/`, and `npm run mutate -- shared/keys shared/http/warmUp.ts` a part.

const suite = 'test/conformance/source.test.ts';

/** The tests of each folder. Quick ones that find many mutants come first: a mutant's run ends with the first failure. */
const tests = {
  client: [
    'test/shared/client/{errors,lists,options,resources}.test.ts',
    'test/shared/client/*.test.ts',
    'test/conformance/client/methods.test.ts',
  ],
  contract: [
    'test/shared/contract/{paths,schemas}.test.ts',
    'test/conformance/document/openApi.test.ts',
    'test/shared/{contract,http}/*.test.ts',
    'test/shared/client/{errors,resources}.test.ts',
    suite,
  ],
  http: ['test/shared/http/*.test.ts', suite],
  keys: ['test/shared/keys/*.test.ts', 'test/infra/ops/keys/*.test.ts'],
  runtime: [
    'test/shared/{runtime,http}/*.test.ts',
    'test/shared/store/stores.test.ts',
    'test/conformance/faults/faults.test.ts',
    suite,
  ],
  store: [
    'test/shared/store/{inventoryRecord,scanResponse}.test.ts',
    'test/infra/local/storeData.test.ts',
    'test/infra/ops/data/dataFile.test.ts',
    'test/shared/store/*.test.ts',
    suite,
  ],
};

/** At least so much of the mutants that can run must make a test fail, in percent. */
const MIN_SCORE = 95;

const folders = readdirSync('shared').map((folder) => `shared/${folder}`);
const paths = process.argv.length > 2 ? process.argv.slice(2) : folders;
const results = [];
for (const path of paths) {
  const [, folder] = path.split('/');
  // `vitest.config.ts` reads it, in Stryker's own processes.
  process.env.MUTATION_TESTS = JSON.stringify(tests[folder]);
  results.push(...(await new Stryker(toOptions(path)).runMutationTest()));
}
const count = (...statuses) => results.filter(({ status }) => statuses.includes(status)).length;
const noticed = count('Killed', 'Timeout');
const score = (100 * noticed) / (noticed + count('Survived', 'NoCoverage'));
console.log(`${paths.join(', ')}: ${score.toFixed(1)} % of ${results.length} mutants noticed`);
if (!(score >= MIN_SCORE)) process.exitCode = 1;

/** @param path a folder or file of `shared/` */
function toOptions(path) {
  const report = join('node_modules/.cache/mutation', path.replaceAll('/', '-'));
  return {
    mutate: [path.endsWith('.ts') ? path : `${path}/**/*.ts`, '!shared/client/examples/**'],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    // Threads end with the runner: a fork in a mutant's endless loop would outlive it.
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false, pool: 'threads' },
    // Code that runs outside a test, such as in a hook that starts a stage, is static. All tests of the folder judge
    // such a mutant, from the first module that loads, until one fails. `ignoreStatic` would be quicker, but would
    // leave out the constants, and what only hooks run.
    coverageAnalysis: 'perTest',
    ignoreStatic: false,
    warnings: { slow: false },
    concurrency: 2,
    timeoutMS: 15_000,
    // The first run, without mutants, may take longer on a busy machine than Stryker expects.
    dryRunTimeoutMinutes: 30,
    // Outside the checkout, and outside node_modules, where Node and vitest take files for JavaScript.
    tempDirName: join(tmpdir(), 'petstore-mutation'),
    cleanTempDir: 'always',
    disableTypeChecks: false,
    // TypeScript 7 has no API to read a tsconfig. No file has this name, so Stryker reads none.
    tsconfigFile: 'none',
    reporters: ['progress-append-only', 'clear-text', 'json', 'html'],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    jsonReporter: { fileName: `${report}.json` },
    htmlReporter: { fileName: `${report}.html` },
    allowConsoleColors: false,
  };
}
