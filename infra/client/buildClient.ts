import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

export const projectRoot = join(import.meta.dirname, '../..');

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

/**
 * Writes the client as one ES module, for Node.js and browsers alike.
 * @param options by default it stays readable, for debuggers; a storefront's own bundler
 * minifies it anyway
 */
export async function bundleClient(file: string, options = { minify: false }): Promise<void> {
  await build({
    ...options,
    entryPoints: [join(projectRoot, 'shared/client/index.ts')],
    outfile: file,
    bundle: true,
    format: 'esm',
    // Neutral: one of Node's own modules would not be found, and fail the build.
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'error',
  });
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
    exports: { '.': { types: './types/client/index.d.ts', default: './index.js' } },
  };
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Writes the types that the client's entry file leads to, and those beside them, which nothing imports. */
async function declareTypes(folder: string): Promise<void> {
  const project = join(projectRoot, 'shared/client/tsconfig.json');
  const tsc = join(projectRoot, 'node_modules/.bin/tsc');
  await promisify(execFile)(tsc, ['--project', project, '--outDir', folder]);
}
