import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import type { OperationId } from '../../../shared/contract/operations.ts';

/** The operations that there are contenders of. */
export const benchedIds = [
  'listInventory',
  'updateInventory',
  'getPet',
  'listOrders',
] as const satisfies OperationId[];
export type BenchedId = (typeof benchedIds)[number];

/** Bundles a file of this folder and returns where the bundle is. */
export async function buildFile(
  source: string,
  outfile: string,
  options: BuildOptions = { format: 'esm' },
): Promise<string> {
  await build({
    entryPoints: [join(import.meta.dirname, '..', source)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    logLevel: 'warning',
    ...options,
  });
  return outfile;
}

/** Bundles a contender's file of each operation. */
export async function buildEach(
  contender: string,
  buildOne: (source: string, name: string) => Promise<string>,
): Promise<Record<BenchedId, string>> {
  const paths = benchedIds.map(async (id) => {
    return [id, await buildOne(`contenders/${contender}/${id}.ts`, `${contender}/${id}`)];
  });
  return Object.fromEntries(await Promise.all(paths));
}
