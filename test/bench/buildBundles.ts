import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { alias, bundling } from '../../infra/service/bundling/bundling.ts';
import type { OperationId } from '../../shared/contract/operations.ts';
import { synthesizeBundlesInto } from '../support/synthesizedAssembly.ts';

/** The operations that there are contenders of. */
export const benchedIds = [
  'listInventory',
  'updateInventory',
  'getPet',
  'listOrders',
] as const satisfies OperationId[];
export type BenchedId = (typeof benchedIds)[number];

/** The paths of everything that is measured, and of the scripts that measure it. */
export interface Bundles {
  /** As a deployment uploads them. */
  readonly ours: Record<OperationId, string>;
  /** The same operations as one writes them without looking at what they cost. */
  readonly peer: Record<BenchedId, string>;
  /** The peer again, minified. */
  readonly minifiedPeer: Record<BenchedId, string>;
  /** The same calls to DynamoDB and nothing else, bundled as ours are. */
  readonly bare: Record<BenchedId, string>;
  /** A list with nothing between DynamoDB's pages and the answer. */
  readonly floor: string;
  readonly functionProcess: string;
}

export async function buildBundles(outdir: string): Promise<Bundles> {
  return {
    ours: synthesizeBundlesInto(join(outdir, 'assembly')),
    peer: await buildPeer(outdir),
    // Of whoever turns on the one setting that every guide names.
    minifiedPeer: await buildEach('peer', join(outdir, 'minified'), { ...asDefault, minify: true }),
    bare: await buildEach('bare', outdir, asOurs),
    floor: await buildFile('contenders/floor.ts', join(outdir, 'floor.cjs'), asOurs),
    functionProcess: await buildFile('functionProcess.ts', join(outdir, 'functionProcess.mjs'), {
      format: 'esm',
    }),
  };
}

export function buildPeer(outdir: string): Promise<Record<BenchedId, string>> {
  return buildEach('peer', outdir, asDefault);
}

/** The settings of `infra/service/bundling/bundling.ts`. */
const asOurs: BuildOptions = {
  format: 'cjs',
  minify: bundling.minify ?? false,
  mainFields: bundling.mainFields ?? [],
  alias,
};

/** esbuild's own settings for Node.js, and the `require` that CommonJS packages in an ES module need. */
const asDefault: BuildOptions = {
  format: 'esm',
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};

/** Bundles a contender's file of each operation. */
async function buildEach(
  contender: string,
  outdir: string,
  options: BuildOptions,
): Promise<Record<BenchedId, string>> {
  const extension = options.format === 'cjs' ? 'cjs' : 'mjs';
  const paths = benchedIds.map(async (id) => {
    const outfile = join(outdir, contender, id, `index.${extension}`);
    return [id, await buildFile(`contenders/${contender}/${id}.ts`, outfile, options)];
  });
  return Object.fromEntries(await Promise.all(paths));
}

/** Bundles a file of this folder and returns where the bundle is. */
async function buildFile(source: string, outfile: string, options: BuildOptions): Promise<string> {
  await build({
    entryPoints: [join(import.meta.dirname, source)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    logLevel: 'warning',
    ...options,
  });
  return outfile;
}
