import { join } from 'node:path';
import { replacements } from '../../../infra/service/bundling/bundling.ts';
import { writeBundle } from '../../support/bundles.ts';
import type { BenchedId } from './buildFile.ts';

/** A function's bundle as it would be with fewer replacements. */
export interface Variant {
  readonly name: string;
  /** Whether a replacement is left out, so that the figures are of what that is worth. */
  readonly isJudged: boolean;
  /** The file that Lambda loads. */
  readonly front: string;
  /** The bundle behind it. */
  readonly bundle: string;
}

/** The package takes more of `node:fs/promises` than its replacement has, so that neither is replaced. */
const together: Readonly<Record<string, readonly string[]>> = {
  '@aws-sdk/credential-provider-node': ['node:fs/promises'],
};

/**
 * Builds a function with all replacements, as a deployment uploads it; the same again, from which it
 * differs by noise only; without each of them; and with none.
 */
export async function buildVariants(id: BenchedId, outdir: string): Promise<readonly Variant[]> {
  const build = async (name: string, alias: Readonly<Record<string, string>>, isJudged = false) => {
    const folder = join(outdir, name.replaceAll(/\W+/g, '-'));
    const front = await writeBundle(id, folder, alias);
    return { name, isJudged, front, bundle: join(folder, 'function.cjs') };
  };
  return Promise.all([
    build('all of them', replacements),
    build('all, once more', replacements),
    ...Object.keys(replacements).map((module) => {
      const out = [module, ...(together[module] ?? [])];
      const others = Object.entries(replacements).filter(([name]) => !out.includes(name));
      return build(`not ${out.join(', ')}`, Object.fromEntries(others), true);
    }),
    build('none of them', {}),
  ]);
}
