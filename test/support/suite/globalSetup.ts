import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

/**
 * What the processes of the tests share. The CDK, the SDK and the commands that the tests start load
 * sooner from a cache of compiled modules (https://nodejs.org/api/module.html#module-compile-cache). The
 * CDK's own look at the templates, three quarters of a synthesis, only warns, and no test reads what it
 * says: `npm run synth` has it. The functions are bundled once a run, as `test/support/bundles.ts` has it.
 */
export default function setup(project: TestProject): () => void {
  process.env.NODE_COMPILE_CACHE ??= join(
    import.meta.dirname,
    '../../../node_modules/.cache/compile',
  );
  process.env.CDK_VALIDATION = 'false';
  const bundles = mkdtempSync(join(tmpdir(), 'petstore-test-bundles-'));
  process.env.TEST_BUNDLES = bundles;
  const remove = () => rmSync(bundles, { recursive: true, force: true });
  project.onTestsRerun(() => {
    remove();
    mkdirSync(bundles);
  });
  return remove;
}
