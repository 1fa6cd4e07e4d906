import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { type BenchedId, buildEach, buildFile } from './buildFile.ts';

export function buildPeer(outdir: string): Promise<Record<BenchedId, string>> {
  return buildEach('peer', (source, name) =>
    buildFile(source, join(outdir, name, 'index.mjs'), asDefault),
  );
}

/** The peer of whoever turns on the one setting that every guide names. */
export function buildMinifiedPeer(outdir: string): Promise<Record<BenchedId, string>> {
  return buildEach('peer', (source, name) =>
    buildFile(source, join(outdir, 'minified', name, 'index.mjs'), { ...asDefault, minify: true }),
  );
}

/** esbuild's own settings for Node.js, and the `require` that CommonJS packages in an ES module need. */
export const asDefault: BuildOptions = {
  format: 'esm',
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};
