import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { build } from 'esbuild';
import { log } from '../../../infra/cli/output.ts';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { startLocalStage } from '../../../infra/local/localStage.ts';
import { readStoreData } from '../../../infra/local/storeData.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { deployedOptions } from '../../support/bundles.ts';
import { makeScratchFolder, runProof } from '../../support/testCommand.ts';
import { entryCases, type Release, runUpgrade, stageCases } from './cases.ts';

const lastRelease = readFileSync(new URL('lastRelease.txt', import.meta.url), 'utf8').trim();
const text = {
  about:
    'Proves that the last release and these sources can share their tables, as in a gradual deployment or after a rollback. Each updates what the other has updated or adjusted, and reads its lists, tags, pages and API keys. Exits with status 1 at a wrong response or a second effect.',
  options: {
    from: { value: 'COMMIT', about: 'the last release', default: lastRelease },
    to: { value: 'COMMIT', about: 'a commit instead of these sources' },
  },
} as const;

await runProof('upgrade', text, async ({ from, to }) => {
  const folder = makeScratchFolder('upgrade');
  const { endpoint } = await startEmbeddedEngine();
  log('Building both releases …');
  async function open(commit: string | undefined, place: string): Promise<Release> {
    const root = commit === undefined ? projectRoot : checkOut(commit, join(folder, place));
    const name = commit?.slice(0, 7) ?? 'these sources';
    return openRelease(name, root, join(folder, `${place}-bundles`), endpoint);
  }
  const last = await open(from, 'from');
  const next = await open(to, 'to');
  const engine = new DynamoDBClient({});
  const results = [
    ...(await runUpgrade(entryCases, last, next, engine)),
    ...(await runUpgrade(stageCases, last, next, engine)),
  ];
  const turns = results.reduce((sum, result) => sum + result.turns, 0);
  return {
    section: {
      title: `Upgrade from ${last.name} to ${next.name}: ${turns} turns`,
      columns: ['', 'turns', 'skipped', 'wrong'],
      rows: results.map(({ name, turns, skipped, problems }) => {
        return [name, turns, skipped, problems.length];
      }),
    },
    problems: results.flatMap(({ problems }) => problems),
  };
});

/**
 * Writes a commit's files into a folder, which uses the packages that are installed here.
 * @throws {Error} if this clone does not have the commit
 */
function checkOut(commit: string, folder: string): string {
  mkdirSync(folder);
  const git = ['-C', projectRoot, 'archive', commit];
  const { status, stdout } = spawnSync('git', git, { maxBuffer: Number.POSITIVE_INFINITY });
  if (status !== 0) throw new Error(`This clone has no commit ${commit}. Fetch the whole history.`);
  execFileSync('tar', ['-xf', '-'], { cwd: folder, input: stdout });
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/**
 * Bundles a release's functions as a deployment does, and serves them. Only the keys of the last one that opens work.
 * @param outdir a folder outside of any package
 */
async function openRelease(
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
    loadModule: async (id) => (existsSync(join(outdir, `${id}.js`)) ? load(`./${id}.js`) : {}),
  });
  return { name, root, baseUrl, apiKey, engineEndpoint };
}
