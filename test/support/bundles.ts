import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildOptions, build } from 'esbuild';
import {
  bundling,
  putInFront,
  replacements,
  toEntry,
} from '../../infra/service/bundling/bundling.ts';
import type { OperationId } from '../../shared/contract/operations.ts';

/**
 * A function's code as a deployment uploads it, built without the CDK, which takes much longer.
 * @param alias the modules that are replaced, with the files that take their place
 */
export async function buildBundle(id: OperationId, alias = replacements): Promise<Uint8Array> {
  const { outputFiles } = await build({ ...toBuildOptions(id), alias });
  const [file] = outputFiles;
  if (!file) throw new Error(`esbuild made nothing of ${id}.`);
  return file.contents;
}

/**
 * Lays a function's files into a folder as a deployment does.
 * @param alias as `buildBundle`
 * @returns the one that Lambda loads
 */
export async function writeBundle(
  id: OperationId,
  folder: string,
  alias = replacements,
): Promise<string> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.js'), await buildBundle(id, alias));
  await promisify(execFile)(process.execPath, [putInFront, folder]);
  return join(folder, 'index.mjs');
}

/** The bytes of each package, and of our own sources, in a bundle built with the deployment's options. */
export async function measureBundle(id: OperationId): Promise<Record<string, number>> {
  const { metafile } = await build({ ...toBuildOptions(id), metafile: true, alias: replacements });
  const bytes: Record<string, number> = {};
  for (const output of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const [, name = 'petstore'] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
      bytes[name] = (bytes[name] ?? 0) + bytesInOutput;
    }
  }
  return bytes;
}

/** The deployment's options for a function, but for the replacements. */
export function toBuildOptions(id: OperationId): BuildOptions & { write: false } {
  return {
    entryPoints: [toEntry(id)],
    outfile: `${id}.js`,
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    minify: bundling.minify ?? false,
    target: bundling.target ?? 'node24',
    mainFields: bundling.mainFields ?? [],
    legalComments: 'none',
  };
}

/** A bundle's size. */
export function sumBytes(bytes: Record<string, number>): number {
  return Object.values(bytes).reduce((total, part) => total + part, 0);
}
