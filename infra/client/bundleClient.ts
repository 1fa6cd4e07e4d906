import { join } from 'node:path';
import { build } from 'esbuild';

export const projectRoot = join(import.meta.dirname, '../..');

/**
 * Writes the client as one ES module, for Node.js and browsers alike.
 * @param options by default it stays readable, since who steps into it wants to read it, and a
 * storefront's own bundler makes it small anyway
 */
export async function bundleClient(file: string, options = { minify: false }): Promise<void> {
  await build({
    ...options,
    entryPoints: [join(projectRoot, 'shared/client/index.ts')],
    outfile: file,
    bundle: true,
    format: 'esm',
    // Neutral: one of Node's own modules would not be found, and fail the build.
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'error',
  });
}
