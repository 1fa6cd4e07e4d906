import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import type { OperationId } from '../../shared/contract/operations.ts';
import { buildEach, buildFile } from './buildFile.ts';

export function buildPeer(outdir: string): Promise<Record<OperationId, string>> {
  return buildEach('peer', (source, name) =>
    buildFile(source, join(outdir, name, 'index.mjs'), asDefault),
  );
}

/** esbuild's own settings for Node.js, and the `require` that CommonJS packages in an ES module need. */
export const asDefault: BuildOptions = {
  format: 'esm',
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};
