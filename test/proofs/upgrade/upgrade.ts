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
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { deployedOptions } from '../../support/bundles.ts';
import { definePutItems } from '../../support/engines.ts';
import { startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { makeScratchFolder, runProof } from '../../support/testCommand.ts';
import { entryCases, type Release, runUpgrade, stageCases } from './cases.ts';
import { type DatabaseCall, findForbiddenCalls } from './forbiddenCalls.ts';

const lastRelease = readFileSync(new URL('lastRelease.txt', import.meta.url), 'utf8').trim();
const text = {
  about:
    'Proves that the last release and these sources can share their tables, as in a gradual deployment or after a rollback. Each updates and adjusts what the other has changed, and reads its outcomes, lists, tags, pages and API keys. Exits with status 1 at a wrong response, at a second effect, and at a call of the last release that the roles of these sources forbid.',
  options: {
    from: { value: 'COMMIT', about: 'the last release', default: lastRelease },
    to: { value: 'COMMIT', about: 'a commit instead of these sources' },
  },
} as const;

await runProof('upgrade', text, async ({ from, to }) => {
  const folder = makeScratchFolder('upgrade');
  const { endpoint } = await startEmbeddedEngine();
  log('Building both releases …');
  const [lastRoot, nextRoot] = [
    checkOut(from, `${folder}/from`),
    to === undefined ? projectRoot : checkOut(to, `${folder}/to`),
  ];
  const doors = new Map<OperationId, Awaited<ReturnType<typeof startFaultyEndpoint>>>();
  for (const id of operationIds) {
    const door = await startFaultyEndpoint(endpoint);
    // Writes that meet a transaction conflict, so that a function also makes the calls that follow.
    door.occupyItems();
    doors.set(id, door);
  }
  const last = await openRelease(from.slice(0, 7), lastRoot, endpoint, (id) => {
    return doors.get(id)?.endpoint;
  });
  const next = await openRelease(to?.slice(0, 7) ?? 'these sources', nextRoot, endpoint);
  const engine = new DynamoDBClient({});
  const results = [
    ...(await runUpgrade(entryCases, last, next, engine)),
    ...(await runUpgrade(stageCases, last, next, engine)),
  ];
  const calls = [...doors].flatMap(([operationId, { requests }]) =>
    requests.map((request): DatabaseCall => ({ operationId, ...request })),
  );
  const stages = await import(join(nextRoot, 'infra/stages/stages.ts'));
  const forbidden = findForbiddenCalls(calls, stages.findTableAccess);
  const turns = results.reduce((sum, result) => sum + result.turns, 0);
  return {
    section: {
      title: `Upgrade from ${last.name} to ${next.name}: ${turns} turns`,
      columns: ['', 'turns', 'wrong'],
      rows: [
        ...results.map(({ name, turns, problems }) => [name, turns, problems.length]),
        [`of ${calls.length} calls of ${last.name}, forbidden by the roles`, '', forbidden.length],
      ],
    },
    problems: [...results.flatMap(({ problems }) => problems), ...forbidden],
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
 * @param findEndpoint a function's own way to the engine
 */
async function openRelease(
  name: string,
  root: string,
  engineEndpoint: string,
  findEndpoint: (operationId: OperationId) => string | undefined = () => engineEndpoint,
): Promise<Release> {
  // Outside of any package.
  const outdir = makeScratchFolder('upgrade-bundles');
  const entryPoints = operationIds.map((id) => join(root, 'functions', `${id}.ts`));
  await build({ ...deployedOptions, entryPoints: entryPoints.filter(existsSync), outdir });
  const load = createRequire(join(outdir, 'index.js'));
  const { baseUrl, apiKey } = await startLocalStage({
    port: 0,
    data: await readStoreData(join(projectRoot, 'infra/local/sample.json')),
    startEngine: async () => ({
      endpoint: engineEndpoint,
      putItems: definePutItems(engineEndpoint),
      close: async () => {},
    }),
    async loadModule(id) {
      if (!existsSync(join(outdir, `${id}.js`))) return {};
      process.env.AWS_ENDPOINT_URL_DYNAMODB = findEndpoint(id);
      return load(`./${id}.js`);
    },
  });
  return { name, root, baseUrl, apiKey, engineEndpoint };
}
