import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type LocalStage, startLocalStage } from '../../../infra/local/localStage.ts';
import { readStoreData } from '../../../infra/local/storeData.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { deployedOptions } from '../../support/bundles.ts';

/** A release on tables that it shares with another. Functions that it does not have respond with 5xx. */
export interface Release extends Pick<LocalStage, 'baseUrl' | 'apiKey' | 'engineEndpoint'> {
  readonly name: string;
  /** The folder of its sources. */
  readonly root: string;
  readonly version: string;
}

/**
 * Writes a commit's files into a folder, which uses the packages that are installed here.
 * @throws {Error} if this clone does not have the commit
 */
export function checkOut(commit: string, folder: string): string {
  mkdirSync(folder);
  const archive = ['archive', '--output', join(folder, 'release.tar'), commit];
  try {
    execFileSync('git', archive, { cwd: projectRoot, stdio: 'ignore' });
  } catch {
    throw new Error(`This clone has no commit ${commit}. Fetch the whole history.`);
  }
  execFileSync('tar', ['-xf', 'release.tar'], { cwd: folder });
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/**
 * Bundles a release's functions as a deployment does, and serves them. Only the keys of the last one that opens work.
 * @param outdir a folder outside of any package
 */
export async function openRelease(
  name: string,
  root: string,
  outdir: string,
  engineEndpoint: string,
): Promise<Release> {
  const entryPoints = operationIds.map((id) => join(root, 'functions', `${id}.ts`));
  await build({ ...deployedOptions, entryPoints: entryPoints.filter(existsSync), outdir });
  const load = createRequire(join(outdir, 'index.js'));
  const { baseUrl, apiKey } = await startLocalStage({
    port: 0,
    data: await readStoreData(join(projectRoot, 'infra/local/sample.json')),
    startEngine: async () => ({ endpoint: engineEndpoint, close: async () => {} }),
    loadHandler: async (id) => (existsSync(join(outdir, `${id}.js`)) ? load(`./${id}.js`) : {}),
  });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return { name, root, version, baseUrl, apiKey, engineEndpoint };
}
