import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtempDisposable, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { build as bundleTypes } from 'tsdown';
import packageJson from '../../../package.json' with { type: 'json' };
import { projectRoot } from '../../stages/projectRoot.ts';

const name = 'petstore-inventory-client';
const run = promisify(execFile);

/** As `npm pack` names it. */
export const tarballName = `${name}-${packageJson.version}.tgz`;

/**
 * Builds the client's package: an ES module with its types, which `require` takes too from Node.js 20.19 and 22.12.
 * @param folder gets the tarball, and its content in the folder `package`
 * @param documentationAddress without a slash at its end; errors link to it
 * @param baseUrl what its README calls
 * @returns the tarball's path
 */
export async function buildClient(
  folder: string,
  documentationAddress: string | undefined,
  baseUrl: string | undefined,
): Promise<string> {
  const content = join(folder, 'package');
  await rm(content, { recursive: true, force: true });
  await mkdir(content, { recursive: true });
  await Promise.all([
    bundleClient(join(content, 'index.js'), documentationAddress),
    writeFile(join(content, 'index.d.ts'), await readClientTypes()),
    writeFile(join(content, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`),
    writeFile(join(content, 'README.md'), await readClientReadme(documentationAddress, baseUrl)),
    copyFile(join(projectRoot, 'LICENSE'), join(content, 'LICENSE')),
  ]);
  await run('npm', ['pack', content, '--pack-destination', folder]);
  return join(folder, tarballName);
}

export async function packClient(documentationAddress: string, baseUrl: string): Promise<Buffer> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'petstore-client-'));
  return await readFile(await buildClient(folder.path, documentationAddress, baseUrl));
}

/**
 * Writes the client as one module for Node.js and browsers. The code stays readable for debuggers, since a storefront's
 * own bundler minifies it anyway.
 */
export async function bundleClient(file: string, documentationAddress?: string): Promise<void> {
  await build({
    entryPoints: [join(projectRoot, 'shared/client/index.ts')],
    outfile: file,
    bundle: true,
    format: 'esm',
    // With `neutral`, an import of a Node.js module fails the build.
    platform: 'neutral',
    target: 'es2022',
    define: {
      DOCUMENTATION_ADDRESS: JSON.stringify(documentationAddress) ?? 'undefined',
      USER_AGENT: JSON.stringify(`${name}/${packageJson.version}`),
    },
    logLevel: 'error',
  });
}

/** Kept, since the documentation and the package both have them, and compiling takes a second. */
let types: Promise<string> | undefined;

/**
 * The types that the client exports, with those that they need, in one module without imports. Every compiler finds
 * them, with every `moduleResolution`.
 */
export function readClientTypes(): Promise<string> {
  types ??= buildTypes();
  return types;
}

async function buildTypes(): Promise<string> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'petstore-client-types-'));
  const project = join(projectRoot, 'shared/client/tsconfig.json');
  const tsc = join(projectRoot, 'node_modules/.bin/tsc');
  // So small a project is not worth more threads.
  await run(tsc, ['--project', project, '--outDir', folder.path, '--singleThreaded']);
  const { bundles } = await bundleTypes({
    config: false,
    cwd: folder.path,
    entry: 'client/index.d.ts',
    tsconfig: false,
    // It only joins declarations. Without a generator, it would look for TypeScript's API, which 7.0 does not have.
    dts: { dtsInput: true, emitDtsOnly: true, generator: 'oxc' },
    write: false,
    logLevel: 'error',
  });
  const [file] = bundles.flatMap(({ chunks }) => chunks);
  if (file?.type !== 'chunk') throw new Error('tsdown gave no types.');
  return file.code;
}

/** The project's, or `undefined` while `package.json` has none. */
export const repository = 'repository' in packageJson ? packageJson.repository : undefined;

/** `main` and `types` are for compilers that do not read `exports` (`moduleResolution: node10`). */
const manifest = {
  name,
  version: packageJson.version,
  description: "A typed client of the pet store's inventory service, for Node.js and browsers.",
  license: packageJson.license,
  repository,
  type: 'module',
  engines: { node: '>=20' },
  sideEffects: false,
  main: './index.js',
  types: './index.d.ts',
  exports: { '.': { types: './index.d.ts', default: './index.js' } },
};

/** In the README, addresses are those of `npm start`. */
export async function readClientReadme(
  documentationAddress = '$&',
  baseUrl = '$&',
): Promise<string> {
  const text = await readFile(join(projectRoot, 'shared/client/README.md'), 'utf8');
  return text
    .replaceAll('http://127.0.0.1:3000/docs', documentationAddress)
    .replaceAll('http://127.0.0.1:3000/v1', baseUrl);
}

/** What each version changes for storefront developers. */
export async function readClientChangelog(): Promise<string> {
  const text = await readFile(join(projectRoot, 'CHANGELOG.md'), 'utf8');
  const [, ...versions] = text.split(/^## /m);
  return versions
    .flatMap((each) => {
      const [version = ''] = each.replaceAll(/[[\]]/g, '').split('\n');
      const parts = each.split(/^### For storefront developers\n/m);
      return parts[1] === undefined ? [] : `## ${version}\n${parts[1].split(/^### /m)[0]}`;
    })
    .join('');
}

/** An example, with the imports of a program that has the package installed. */
export function importFromPackage(code: string): string {
  return code
    .replace(/^\/\/ Elsewhere, this is the package .*\n/m, '')
    .replaceAll(/'(?:\.\.\/)+index\.ts'/g, `'${name}'`);
}
