import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { alias, bundling, entryModule, toEntry } from '../../infra/deploy/bundling/bundling.ts';
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

let building: Promise<ReadonlyMap<string, Uint8Array>> | undefined;

/** Each test process builds all functions once, together: esbuild then parses what they share only once. */
async function buildAll(): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = { entryPoints: operationIds.map(toEntry), outdir: '.' };
  const { outputFiles } = await build({ ...deployedOptions, ...files, write: false });
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
}

/**
 * Writes a function's files into a folder, the same as a deployment does (`bundles.test.ts`), but without the CDK, which
 * takes much longer.
 * @returns the file that Lambda loads
 */
export async function writeBundle(id: OperationId, folder: string): Promise<string> {
  building ??= buildAll();
  const code = (await building).get(`${id}.js`) ?? new Uint8Array();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'function.cjs'), code);
  const entry = join(folder, 'index.mjs');
  copyFileSync(entryModule, entry);
  return entry;
}

/** Writes each function into its own folder in this one. @returns the files that Lambda loads */
export async function writeBundles(folder: string): Promise<Record<OperationId, string>> {
  const paths = operationIds.map(async (id) => [id, await writeBundle(id, join(folder, id))]);
  return Object.fromEntries(await Promise.all(paths));
}
