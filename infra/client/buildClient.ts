import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

export const projectRoot = join(import.meta.dirname, '../..');

/** The package's types, relative to their folder. */
const ENTRY = 'client/index.d.ts';

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
    exports: { '.': { types: `./types/${ENTRY}`, default: './index.js' } },
  };
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * Writes the types that the client's entry file leads to, and no others: those of the contract's schemas
 * would need zod.
 */
async function declareTypes(folder: string): Promise<void> {
  const all = await mkdtemp(join(tmpdir(), 'petstore-client-types-'));
  try {
    await promisify(execFile)(join(projectRoot, 'node_modules/.bin/tsc'), [
      ...['--project', join(projectRoot, 'shared/client/tsconfig.json')],
      ...['--outDir', all],
    ]);
    await copyDeclarations(all, folder);
  } finally {
    await rm(all, { recursive: true });
  }
}

/** A file that another imports. */
const source = /'(\.[^']+)\.ts'/g;

async function copyDeclarations(from: string, to: string): Promise<void> {
  const files = new Set([ENTRY]);
  for (const file of files) {
    const text = await readFile(join(from, file), 'utf8');
    for (const [, name = ''] of text.matchAll(source)) {
      files.add(normalize(join(dirname(file), `${name}.d.ts`)));
    }
    await mkdir(dirname(join(to, file)), { recursive: true });
    await writeFile(join(to, file), text.replace(source, "'$1.js'"));
  }
}
