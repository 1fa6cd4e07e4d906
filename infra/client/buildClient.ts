import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleClient, projectRoot } from './bundleClient.ts';
import { declareTypes, ENTRY } from './declareTypes.ts';

/**
 * Builds the client's package.
 * @param folder gets the tarball, and beside it, in `package`, what is in it
 * @returns the tarball's path
 */
export async function buildClient(folder: string): Promise<string> {
  const content = join(folder, 'package');
  await rm(content, { recursive: true, force: true });
  await mkdir(content, { recursive: true });
  await Promise.all([
    bundleClient(join(content, 'index.js')),
    declareTypes(join(content, 'types')),
    writeManifest(join(content, 'package.json')),
    copyFile(join(projectRoot, 'shared/client/README.md'), join(content, 'README.md')),
    copyFile(join(projectRoot, 'LICENSE'), join(content, 'LICENSE')),
  ]);
  const pack = ['pack', content, '--pack-destination', folder, '--json'];
  const { stdout } = await promisify(execFile)('npm', pack);
  return join(folder, Object.values<{ filename: string }>(JSON.parse(stdout))[0]?.filename ?? '');
}

async function writeManifest(file: string): Promise<void> {
  const { version, license } = JSON.parse(
    await readFile(join(projectRoot, 'package.json'), 'utf8'),
  );
  const manifest = {
    name: 'petstore-inventory-client',
    version,
    description: "A typed client of the pet store's inventory service, for Node.js and browsers.",
    license,
    type: 'module',
    sideEffects: false,
    exports: { '.': { types: `./types/${ENTRY}`, default: './index.js' } },
  };
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
}
