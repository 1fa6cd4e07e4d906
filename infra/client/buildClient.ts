import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { projectRoot } from '../stages/projectRoot.ts';

/**
 * Builds the client's package for `import` and for `require`, each with its own types. In a package of ES modules,
 * TypeScript would take shared types for those of an ES module, which `require` cannot load.
 * @param folder gets the tarball, and its content in the folder `package`
 * @param documentationAddress without a slash at its end; errors link to it
 * @returns the tarball's path
 */
export async function buildClient(
  folder: string,
  documentationAddress: string | undefined,
): Promise<string> {
  const content = join(folder, 'package');
  await rm(content, { recursive: true, force: true });
  await mkdir(join(content, 'cjs'), { recursive: true });
  await Promise.all([
    bundleClient(join(content, 'index.js'), { documentationAddress }),
    bundleClient(join(content, 'cjs/index.js'), { documentationAddress, format: 'cjs' }),
    declareTypes(join(content, 'types')),
    writeManifest(join(content, 'package.json')),
    writeFile(join(content, 'cjs/package.json'), '{ "type": "commonjs" }\n'),
    copyFile(join(projectRoot, 'shared/client/README.md'), join(content, 'README.md')),
    copyFile(join(projectRoot, 'LICENSE'), join(content, 'LICENSE')),
  ]);
  await cp(join(content, 'types'), join(content, 'cjs/types'), { recursive: true });
  const pack = ['pack', content, '--pack-destination', folder, '--json'];
  const { stdout } = await promisify(execFile)('npm', pack);
  return join(folder, Object.values<{ filename: string }>(JSON.parse(stdout))[0]?.filename ?? '');
}

interface BundleOptions {
  readonly documentationAddress?: string | undefined;
  readonly format?: 'esm' | 'cjs';
  /** By default the code stays readable for debuggers. A storefront's own bundler minifies it anyway. */
  readonly minify?: boolean;
}

/** Writes the client as one module for Node.js and browsers. */
export async function bundleClient(
  file: string,
  { documentationAddress, format = 'esm', minify = false }: BundleOptions = {},
): Promise<void> {
  await build({
    entryPoints: [join(projectRoot, 'shared/client/index.ts')],
    outfile: file,
    bundle: true,
    format,
    minify,
    // With `neutral`, an import of a Node.js module fails the build.
    platform: 'neutral',
    target: 'es2022',
    define: { DOCUMENTATION_ADDRESS: JSON.stringify(documentationAddress) ?? 'undefined' },
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
    exports: {
      '.': {
        require: { types: './cjs/types/client/index.d.ts', default: './cjs/index.js' },
        default: { types: './types/client/index.d.ts', default: './index.js' },
      },
    },
  };
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Writes the types that the client's entry file exports, and those beside them that nothing imports. */
async function declareTypes(folder: string): Promise<void> {
  const project = join(projectRoot, 'shared/client/tsconfig.json');
  const tsc = join(projectRoot, 'node_modules/.bin/tsc');
  await promisify(execFile)(tsc, ['--project', project, '--outDir', folder]);
}
