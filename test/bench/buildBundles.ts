import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import type { OperationId } from '../../shared/contract/operations.ts';
import { deployedOptions, writeBundles } from '../support/bundles.ts';

/** The most CPU that a request of each benched operation may take when warm, as a ratio to the bare call. */
export const warmLimits = {
  listInventory: undefined,
  updateInventory: 1.05,
  adjustInventory: undefined,
  listOrders: 1.1,
} as const satisfies Partial<Record<OperationId, number | undefined>>;
export type BenchedId = keyof typeof warmLimits;
export const benchedIds = Object.keys(warmLimits) as BenchedId[];

export type Bundles = Awaited<ReturnType<typeof buildBundles>>;

export async function buildBundles(outdir: string) {
  const buildDeployed = (name: string, source: string) =>
    buildSource(source, join(outdir, `${name}.cjs`), deployedOptions);
  const toPeer = (name: string) =>
    `import { ${name} } from './contenders/peer.ts'; export const handler = ${name}();`;
  const toBare = (name: string) => `export { ${name} as handler } from './contenders/bare.ts';`;
  const toSigned = (id: BenchedId) =>
    `import { defineHandler } from './contenders/signed.ts'; export const handler = defineHandler('${id}');`;
  const runner = join(outdir, 'functionProcess.mjs');
  return {
    /** As a deployment uploads them. */
    ours: await writeBundles(join(outdir, 'ours')),
    /** The same operations, written without looking at what they cost. */
    peer: await buildEach((id) =>
      buildSource(toPeer(id), join(outdir, 'peer', `${id}.mjs`), usualOptions),
    ),
    /** The same calls to DynamoDB and nothing else, bundled as ours are. */
    bare: await buildEach((id) => buildDeployed(`bare/${id}`, toBare(id))),
    /** The same calls over bare HTTPS, signed by hand. */
    signed: await buildEach((id) => buildDeployed(`signed/${id}`, toSigned(id))),
    /** A list with nothing between DynamoDB's pages and the response. */
    floor: await buildDeployed('floor', "export * from './contenders/floor.ts';"),
    functionProcess: await buildSource("import './functionProcess.ts';", runner, { format: 'esm' }),
  };
}

/**
 * esbuild's own settings for Node.js, the one setting that every guide names, and the `require` that CommonJS packages
 * in an ES module need.
 */
const usualOptions: BuildOptions = {
  format: 'esm',
  minify: true,
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};

async function buildEach(
  buildOne: (id: BenchedId) => Promise<string>,
): Promise<Record<BenchedId, string>> {
  const paths = benchedIds.map(async (id) => [id, await buildOne(id)]);
  return Object.fromEntries(await Promise.all(paths));
}

async function buildSource(
  contents: string,
  outfile: string,
  options: BuildOptions,
): Promise<string> {
  await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    logLevel: 'warning',
    ...options,
  });
  return outfile;
}
