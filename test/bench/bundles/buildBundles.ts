import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { bundling, replacements } from '../../../infra/service/bundling/bundling.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { synthesizeBundlesInto } from '../../support/synthesizedAssembly.ts';
import { type BenchedId, buildEach, buildFile } from './buildFile.ts';
import { asDefault, buildMinifiedPeer, buildPeer } from './buildPeer.ts';

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
  /** The peer's calls, signed and sent by hand: what no client of DynamoDB can do without. */
  readonly thin: Record<BenchedId, string>;
  /** A `DynamoDBDocumentClient` and a handler that does nothing, bundled as the peer is. */
  readonly hello: string;
  readonly floor: { readonly builtins: string; readonly listInventory: string };
  readonly loadProcess: string;
  readonly functionProcess: string;
}

export async function buildBundles(outdir: string): Promise<Bundles> {
  return {
    ours: synthesizeBundlesInto(join(outdir, 'assembly')),
    peer: await buildPeer(outdir),
    minifiedPeer: await buildMinifiedPeer(outdir),
    bare: await buildAsOurs('bare', outdir),
    thin: await buildAsOurs('thin', outdir),
    hello: await buildFile(
      'contenders/hello/documentClient.ts',
      join(outdir, 'hello/index.mjs'),
      asDefault,
    ),
    floor: {
      builtins: await buildFile(
        'contenders/floor/builtins.ts',
        join(outdir, 'floor/builtins.cjs'),
        asOurs,
      ),
      listInventory: await buildFile(
        'contenders/floor/listInventory.ts',
        join(outdir, 'floor/listInventory.cjs'),
        asOurs,
      ),
    },
    loadProcess: await buildFile('process/loadProcess.ts', join(outdir, 'loadProcess.mjs')),
    functionProcess: await buildFile(
      'process/functionProcess.ts',
      join(outdir, 'functionProcess.mjs'),
    ),
  };
}

function buildAsOurs(contender: string, outdir: string): Promise<Record<BenchedId, string>> {
  return buildEach(contender, (source, name) =>
    buildFile(source, join(outdir, name, 'index.cjs'), asOurs),
  );
}

const credentials = '@aws-sdk/credential-provider-node';

/** The settings of `infra/service/bundling/bundling.ts`. */
const asOurs: BuildOptions = {
  format: 'cjs',
  minify: bundling.minify ?? false,
  mainFields: bundling.mainFields ?? [],
  alias: {
    [credentials]: String(replacements[credentials]),
  },
};
