import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { bundling, replacements } from '../../../infra/service/bundling/bundling.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { synthesizeBundlesInto } from '../../support/synthesizedAssembly.ts';
import { type BenchedId, buildEach, buildFile } from './buildFile.ts';
import { asDefault, buildPeer } from './buildPeer.ts';

/** The paths of everything that is measured, and of the scripts that measure it. */
export interface Bundles {
  /** As a deployment uploads them. */
  readonly ours: Record<OperationId, string>;
  /** The same operations as one writes them without looking at what they cost. */
  readonly peer: Record<BenchedId, string>;
  /** The same calls to DynamoDB and nothing else, bundled as ours are. */
  readonly bare: Record<BenchedId, string>;
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
    bare: await buildEach('bare', (source, name) =>
      buildFile(source, join(outdir, name, 'index.cjs'), asOurs),
    ),
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
