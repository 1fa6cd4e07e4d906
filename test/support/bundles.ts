import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { alias, bundling, putInFront, toEntry } from '../../infra/deploy/bundling/bundling.ts';
import { type OperationId, operationIds } from '../../shared/contract/operations.ts';

export const deployedOptions: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  minify: bundling.minify ?? false,
  target: bundling.target ?? 'node24',
  mainFields: bundling.mainFields ?? [],
  legalComments: 'none',
  alias,
};

const built = new Map<OperationId, Promise<Uint8Array>>();

/**
 * A function's code as a deployment uploads it, built without the CDK, which takes much longer. Each test process
 * builds a function once.
 */
export function buildBundle(id: OperationId): Promise<Uint8Array> {
  const building = built.get(id) ?? buildOnce(id);
  built.set(id, building);
  return building;
}

async function buildOnce(id: OperationId): Promise<Uint8Array> {
  const files = { entryPoints: [toEntry(id)], outfile: `${id}.js` };
  const { outputFiles } = await build({ ...deployedOptions, ...files, write: false });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

/**
 * Writes a function's files into a folder, the same as a deployment does (`bundles.test.ts`), but without a process.
 * @returns the file that Lambda loads
 */
export async function writeBundle(id: OperationId, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'function.cjs'), await buildBundle(id));
  const entry = join(folder, 'index.mjs');
  copyFileSync(join(dirname(putInFront), 'index.mjs'), entry);
  return entry;
}

/** Writes each function into its own folder in this one. @returns the files that Lambda loads */
export async function writeBundles(folder: string): Promise<Record<OperationId, string>> {
  const paths = operationIds.map(async (id) => [id, await writeBundle(id, join(folder, id))]);
  return Object.fromEntries(await Promise.all(paths));
}
