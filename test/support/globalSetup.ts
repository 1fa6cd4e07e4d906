import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * What the processes of the tests share. The folder that assemblies are written to stands from before
 * the first test until after the last, outside the checkout, whose package.json would have Node take a
 * bundle for an ES module. The cache of compiled modules stays: the CDK, the SDK and the commands that
 * the tests start load from it sooner (https://nodejs.org/api/module.html#module-compile-cache). The
 * CDK's own look at the templates, three quarters of a synthesis, only warns, and no test reads what it
 * says: `npm run synth` has it.
 */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-assembly-'));
  process.env.ASSEMBLY_FOLDER = folder;
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../node_modules/.cache/compile');
  process.env.CDK_VALIDATION = 'false';
  return () => rmSync(folder, { recursive: true, force: true });
}
