import { writeFile } from 'node:fs/promises';
import { operationIds } from '../../shared/contract/operations.ts';
import { measureBundle, sumBytes } from '../support/bundles.ts';

/**
 * Prints what each function's bundle is made of; with `--write`, makes that the size that
 * `test/infra/service/bundling/bundling.test.ts` holds it to.
 */
const sizes: Record<string, Record<string, number>> = {};
for (const id of operationIds) {
  const bytes = await measureBundle(id);
  const parts = Object.entries(bytes).filter(([, size]) => size > 0);
  sizes[id] = Object.fromEntries(parts.sort(([one], [other]) => one.localeCompare(other)));
  process.stdout.write(`${id}: ${sumBytes(bytes)} bytes\n`);
  for (const [name, size] of parts.sort(([, one], [, other]) => other - one)) {
    process.stdout.write(`${String(size).padStart(9)}  ${name}\n`);
  }
}
if (process.argv.includes('--write')) {
  const file = new URL('../infra/service/bundling/bundleBytes.json', import.meta.url);
  await writeFile(file, `${JSON.stringify(sizes, null, 2)}\n`);
}
