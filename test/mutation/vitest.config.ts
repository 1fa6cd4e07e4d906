import { matchesGlob, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** In this order; see `mutate.mjs`. */
const files: string[] = JSON.parse(process.env.MUTATION_TESTS ?? '[]');

/** Where Stryker runs the tests: a copy of the project. */
const root = process.cwd();

class InOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      files.findIndex((file) => matchesGlob(relative(root, moduleId), file));
    return specifications.toSorted((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  test: {
    include: files,
    // Each mutant has a thread of its own, in which the test files share their modules.
    isolate: false,
    sequence: { sequencer: InOrder },
    setupFiles: 'test/mutation/setup.ts',
    // For the run without mutants on a busy machine. Stryker's own limit ends a mutant that hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
