import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { alias, bundling, putInFront, toEntry } from '../../infra/service/bundling/bundling.ts';
import type { OperationId } from '../../shared/contract/operations.ts';

const built = new Map<OperationId, ReturnType<typeof buildOnce>>();

/** A function's code as a deployment uploads it, built without the CDK, which takes much longer. */
export async function buildBundle(id: OperationId): Promise<Uint8Array> {
  const { outputFiles } = await buildFunction(id);
  return outputFiles[0]?.contents ?? new Uint8Array();
}

/** Each process of the tests builds a function once. */
function buildFunction(id: OperationId): ReturnType<typeof buildOnce> {
  const building = built.get(id) ?? buildOnce(id);
  built.set(id, building);
  return building;
}

/** By the deployment's options. */
function buildOnce(id: OperationId) {
  return build({
    entryPoints: [toEntry(id)],
    outfile: `${id}.js`,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'cjs',
    minify: bundling.minify ?? false,
    target: bundling.target ?? 'node24',
    mainFields: bundling.mainFields ?? [],
    legalComments: 'none',
    alias,
  });
}

/**
 * Lays a function's files into a folder as a deployment does.
 * @returns the one that Lambda loads
 */
export async function writeBundle(id: OperationId, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.js'), await buildBundle(id));
  await promisify(execFile)(process.execPath, [putInFront, folder]);
  return join(folder, 'index.mjs');
}

/** The bytes of each package, and of our own sources, in a bundle: https://esbuild.github.io/api/#metafile */
export async function measureBundle(id: OperationId): Promise<Record<string, number>> {
  const bytes: Record<string, number> = {};
  for (const output of Object.values((await buildFunction(id)).metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const [, name = 'petstore'] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
      bytes[name] = (bytes[name] ?? 0) + bytesInOutput;
    }
  }
  return bytes;
}

/** A bundle's size. */
export function sumBytes(bytes: Record<string, number>): number {
  return Object.values(bytes).reduce((total, part) => total + part, 0);
}
