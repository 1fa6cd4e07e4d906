import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildOptions, build } from 'esbuild';
import { alias, bundling, putInFront, toEntry } from '../../infra/service/bundling/bundling.ts';
import type { OperationId } from '../../shared/contract/operations.ts';

/**
 * A function's code as a deployment uploads it, built without the CDK, which takes much longer. Each run of the
 * tests builds a function once, by whichever process is the first to want it.
 */
export async function buildBundle(id: OperationId): Promise<Uint8Array> {
  const { TEST_BUNDLES: folder } = process.env;
  if (folder === undefined) return buildAlone(id);
  const path = join(folder, `${id}.js`);
  if (!existsSync(path)) replaceFile(path, await buildAlone(id));
  return readFileSync(path);
}

/** In one step, so that no other process reads a half of it. */
function replaceFile(path: string, content: Uint8Array): void {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, content);
  renameSync(own, path);
}

async function buildAlone(id: OperationId): Promise<Uint8Array> {
  const [file] = (await build(toBuildOptions(id))).outputFiles;
  if (!file) throw new Error(`esbuild made nothing of ${id}.`);
  return file.contents;
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

/** The deployment's options for a function. */
function toBuildOptions(id: OperationId) {
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
    alias,
  } as const satisfies BuildOptions;
}
