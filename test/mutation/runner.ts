import { resolve } from 'node:path';
import {
  commonTokens,
  declareFactoryPlugin,
  PluginKind,
  tokens,
} from '@stryker-mutator/api/plugin';
import {
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  MutantRunStatus,
  type TestRunner,
  TestStatus,
} from '@stryker-mutator/api/test-runner';
import { strykerPlugins as vitestPlugins } from '@stryker-mutator/vitest-runner';

type Hits = Record<string, number>;

/** The setup files leave this with each test file. */
interface FileCoverage {
  readonly static: Hits;
  readonly loading?: Hits;
}

interface VitestTestRunner extends TestRunner {
  readonly ctx: {
    readonly state: { getFiles(): { filepath: string; meta: { mutantCoverage?: FileCoverage } }[] };
  };
}

/**
 * Stryker's runner for vitest, with a quicker way for mutants that Stryker takes to be static. These are nearly all
 * of `shared/`, since a stage starts before a file's tests, and Stryker would run all tests for each. Here, the tests
 * that run such a mutant judge it, with all tests of a file in which it runs before the tests. If it survives and
 * also ran while modules were loaded, all tests run, with the mutant in place from the start.
 */
function toRunner(injector: never): TestRunner {
  const runner = vitestPlugins[0]?.factory(injector) as VitestTestRunner;
  const inner = { dryRun: runner.dryRun.bind(runner), mutantRun: runner.mutantRun.bind(runner) };

  async function dryRun(...args: Parameters<TestRunner['dryRun']>): Promise<DryRunResult> {
    const result = await inner.dryRun(...args);
    if (result.status !== DryRunStatus.Complete || !result.mutantCoverage) return result;
    const { perTest } = result.mutantCoverage;
    const files = runner.ctx.state.getFiles().map(({ filepath, meta }) => {
      const { static: before = {}, loading = {} } = meta.mutantCoverage ?? {};
      return { filepath: resolve(filepath), before, loading };
    });
    const inTests = new Set(Object.values(perTest).flatMap((hits) => Object.keys(hits)));
    const whileLoading = new Set(files.flatMap(({ loading }) => Object.keys(loading)));
    for (const { filepath, before, loading } of files) {
      const inHooks = Object.keys(before).filter(
        (id) => before[id] !== loading[id] && (inTests.has(id) || !whileLoading.has(id)),
      );
      for (const { id: testId, fileName = '' } of result.tests) {
        if (resolve(fileName) !== filepath) continue;
        perTest[testId] ??= {};
        const hits = perTest[testId];
        for (const id of inHooks) hits[id] ??= before[id] ?? 1;
      }
    }
    const judged = new Set(Object.values(perTest).flatMap((hits) => Object.keys(hits)));
    result.mutantCoverage.static = Object.fromEntries(
      Object.entries(result.mutantCoverage.static).filter(([id]) => !judged.has(id)),
    );
    // Each runner is a process, and only one of them does the dry run. So a mutant's plan says that it also
    // ran while loading, by a test of this name.
    const both = [...judged].filter((id) => whileLoading.has(id));
    result.tests.push({ id: LOADING, name: LOADING, timeSpentMs: 0, status: TestStatus.Success });
    perTest[LOADING] = Object.fromEntries(both.map((id) => [id, 1]));
    return result;
  }

  async function mutantRun({ testFilter, ...options }: MutantRunOptions): Promise<MutantRunResult> {
    const tests = testFilter?.filter((id) => id !== LOADING);
    let result = await inner.mutantRun({ ...options, ...(tests && { testFilter: tests }) });
    const ranWhileLoading = tests?.length !== testFilter?.length;
    if (result.status === MutantRunStatus.Survived && ranWhileLoading) {
      result = await inner.mutantRun({ ...options, mutantActivation: 'static' });
    }
    if (result.status !== MutantRunStatus.Error) return result;
    // A hook that fails outside a suite fails its file, which Stryker takes for an error of the runner.
    const { errorMessage: failureMessage } = result;
    return { status: MutantRunStatus.Killed, killedBy: [], failureMessage, nrOfTests: 0 };
  }

  return Object.assign(runner, { dryRun, mutantRun });
}
toRunner.inject = tokens(commonTokens.injector);

const LOADING = 'loading#loading';

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.TestRunner, 'petstore', toRunner as never),
];
