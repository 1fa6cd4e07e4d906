import { matchesGlob, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Quick tests that find many mutants come first, since a mutant's run ends with the first failure. Tests that
 * wait for timeouts or try a hundred thousand values are left out.
 */
const files = [
  'test/shared/http/*.test.ts',
  'test/shared/keys/*.test.ts',
  'test/infra/ops/keys/keys.test.ts',
  'test/shared/contract/{paths,schemas}.test.ts',
  'test/conformance/document/openApi.test.ts',
  'test/shared/runtime/*.test.ts',
  'test/infra/local/storeData.test.ts',
  'test/infra/ops/data/dataFile.test.ts',
  'test/shared/store/inventoryRecord.test.ts',
  'test/shared/store/scanResponse.test.ts',
  'test/conformance/source.test.ts',
  'test/conformance/faults/faults.test.ts',
  'test/shared/store/*.test.ts',
  'test/shared/client/*.test.ts',
  'test/conformance/client/methods.test.ts',
];

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
    sequence: { sequencer: InOrder },
    setupFiles: 'test/mutation/setup.ts',
    testTimeout: 10_000,
    hookTimeout: 20_000,
  },
});
