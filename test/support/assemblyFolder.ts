import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder that the tests' assemblies are written to, from before the first test until after the
 * last. It lies outside the checkout, whose package.json would have Node take a bundle for an ES module.
 */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-assembly-'));
  process.env.ASSEMBLY_FOLDER = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
