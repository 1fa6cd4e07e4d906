import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { alias, bundling, putInFront, toEntry } from '../../infra/service/bundling/bundling.ts';
import type { OperationId } from '../../shared/contract/operations.ts';

interface Built {
  readonly code: Uint8Array;
  readonly metafile: Metafile;
}

/** A function's code as a deployment uploads it, built without the CDK, which takes much longer. */
export async function buildBundle(id: OperationId): Promise<Uint8Array> {
  return (await buildOnce(id)).code;
}

/** What the deployed code of a function is made of: https://esbuild.github.io/api/#metafile */
export async function readMetafile(id: OperationId): Promise<Metafile> {
  return (await buildOnce(id)).metafile;
}

/** Each run of the tests builds a function once, by whichever process is the first to want it. */
async function buildOnce(id: OperationId): Promise<Built> {
  const { TEST_BUNDLES: folder } = process.env;
  if (folder === undefined) return buildAlone(id);
  const [code, metafile] = [join(folder, `${id}.js`), join(folder, `${id}.json`)];
  if (!existsSync(metafile)) {
    const built = await buildAlone(id);
    replaceFile(code, built.code);
    replaceFile(metafile, JSON.stringify(built.metafile));
  }
  return { code: readFileSync(code), metafile: JSON.parse(readFileSync(metafile, 'utf8')) };
}

/** In one step, so that no other process reads a half of it. */
function replaceFile(path: string, content: Uint8Array | string): void {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, content);
  renameSync(own, path);
}

async function buildAlone(id: OperationId): Promise<Built> {
  const { outputFiles, metafile } = await build(toBuildOptions(id));
  const [file] = outputFiles;
  if (!file) throw new Error(`esbuild made nothing of ${id}.`);
  return { code: file.contents, metafile };
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

/** The bytes of each package, and of our own sources, in a bundle built with the deployment's options. */
export async function measureBundle(id: OperationId): Promise<Record<string, number>> {
  const bytes: Record<string, number> = {};
  for (const output of Object.values((await readMetafile(id)).outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const [, name = 'petstore'] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
      bytes[name] = (bytes[name] ?? 0) + bytesInOutput;
    }
  }
  return bytes;
}

/** The deployment's options for a function. */
function toBuildOptions(id: OperationId) {
  return {
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
  } as const satisfies BuildOptions;
}

/** A bundle's size. */
export function sumBytes(bytes: Record<string, number>): number {
  return Object.values(bytes).reduce((total, part) => total + part, 0);
}
