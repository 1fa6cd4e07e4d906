import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { runDocs } from '../../../infra/docs/runDocs.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { fixtures } from '../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { describeStack, useAws } from '../ops/aws.ts';
import { callOps } from '../ops/opsProcess.ts';

const { folder, read } = openTemporaryFolder();
const documentationAddress = 'https://docs.shop.example';
const own = { documentationAddress, allowedOrigins: ['https://shop.example'] } as const;
const ofGateway = 'https://x.execute-api.eu-west-1.amazonaws.com/v1';

/** Writes the documentation of both stages; only staging has a stack. */
async function writeDocs(production: Partial<StageSettings>, ofStaging: Partial<StageSettings>) {
  const aws = await useAws(describeStack('petstore-staging', { BaseUrl: ofGateway }));
  return callDocs(production, ofStaging, aws.variables);
}

function callDocs(
  production: Partial<StageSettings>,
  ofStaging: Partial<StageSettings> = own,
  variables: Record<string, string> = {},
  repository = 'https://git.shop.example/inventory',
) {
  const deployments = (['production', 'staging'] as const).map((name) => {
    const changes = name === 'production' ? production : ofStaging;
    return { name, settings: { ...fixtures[name].settings, ...changes } };
  });
  const target = pathToFileURL(`${folder}/docs/`);
  return callOps(() => runDocs(deployments, target, repository), [], variables);
}

const readServers = () =>
  JSON.parse(read('docs/openapi.json')).servers.map(({ url }: { url: string }) => url);
const leftOut =
  /^production is left out, since its address is not known: There is no stack [^\n]+\n$/;

const replace = 'replace the example values of';
it.each([
  ['an example', () => writeDocs(own, {}), `${replace} staging: documentationAddress`],
  [
    'an example of a stage that is not the first',
    () => writeDocs({ ...own, baseAddress: 'https://shop.example/v1' }, {}),
    `${replace} staging: documentationAddress`,
  ],
  [
    'an example to call',
    () => writeDocs({ ...own, baseAddress: 'https://api.petstore.example/v1' }, own),
    `${replace} production: baseAddress`,
  ],
  [
    'no repository for the client’s package',
    () => callDocs({ ...own, baseAddress: 'https://shop.example/v1' }, own, {}, ''),
    'package.json: set "repository".',
  ],
  ['no address', () => callDocs(own), 'There is no address to publish: deploy a stage'],
])('nothing is published with %s', async (_, write, line) => {
  const { status, stdout, stderr } = await write();
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr.trimEnd().split('\n').at(-1)).toContain(line);
  expect(readdirSync(folder)).toEqual([]);
});

it.each([
  ['from settings and stacks', { ...own, baseAddress: 'https://shop.example/v1' }, /^$/],
  ['of the deployed stages, and names the others', own, leftOut],
])('the documentation has the addresses %s', async (_, production, stderr) => {
  const outcome = await writeDocs(production, own);
  expect(outcome).toMatchObject({ status: 0, stdout: expect.stringContaining('files written') });
  expect(outcome.stderr).toMatch(stderr);
  const told = 'baseAddress' in production ? [production.baseAddress, ofGateway] : [ofGateway];
  expect(readServers()).toEqual(told);
  const limits = read('docs/limits.html');
  expect(limits.includes('production: a second')).toBe(told.length === 2);
  for (const name of readdirSync(`${folder}/docs`)) {
    // An example in the contract has the address of a picture.
    if (name !== 'openapi.json')
      expect(read(`docs/${name}`), name).not.toContain('petstore.example');
  }
});
