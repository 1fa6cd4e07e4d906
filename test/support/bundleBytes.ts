import { build } from 'esbuild';
import { bundling, toEntry } from '../../infra/service/bundling/bundling.ts';
import type { OperationId } from '../../shared/contract/operations.ts';

/** The bytes of each package, and of our own sources, in a bundle built with the deployment's options. */
export async function measureBundle(id: OperationId): Promise<Record<string, number>> {
  const alias = Object.entries(bundling.esbuildArgs ?? {})
    .filter(([name]) => name.startsWith('--alias:'))
    .map(([name, file]) => [name.slice('--alias:'.length), String(file)]);
  const { metafile } = await build({
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
    alias: Object.fromEntries(alias),
    legalComments: 'none',
  });
  const bytes: Record<string, number> = {};
  for (const output of Object.values(metafile.outputs)) {
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
