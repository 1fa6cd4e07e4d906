import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { runDocs } from '../../../infra/docs/runDocs.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { type FixtureName, fixtures } from '../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { describeStack, useAws } from '../ops/aws.ts';
import { callOps } from '../ops/opsProcess.ts';

const { folder, read } = openTemporaryFolder();
const documentationAddress = 'https://docs.shop.example';
const own = {
  documentationAddress,
  contact: 'api@shop.example',
  statusPage: 'https://status.shop.example',
  allowedOrigins: ['https://shop.example'],
} as const;
const ofGateway = 'https://x.execute-api.eu-west-1.amazonaws.com/v1';

/** Writes the documentation of both stages; only staging has a stack. */
async function writeDocs(
  production: Partial<StageSettings>,
  staging: Partial<StageSettings> = own,
  stack = 'petstore-staging',
  repository = 'https://git.shop.example/inventory',
) {
  const { variables } = await useAws(describeStack(stack, { BaseUrl: ofGateway }));
  const deployments = Object.entries({ production, staging }).map(([key, changes]) => {
    const { name, settings } = fixtures[key as FixtureName];
    return { name, settings: { ...settings, ...changes } };
  });
  const target = pathToFileURL(`${folder}/docs/`);
  return callOps(() => runDocs(deployments, target, repository), [], variables);
}

const elsewhere = { ...own, baseAddress: 'https://shop.example/v1' };
const example = { ...own, baseAddress: 'https://api.petstore.example/v1' };
const replace = 'replace the example values of';
it.each<[string, Parameters<typeof writeDocs>, line: string]>([
  ['an example', [own, {}], `${replace} staging: documentationAddress, contact`],
  ['an example of the last stage', [elsewhere, {}], `${replace} staging: documentationAddress`],
  ['an example to call', [example], `${replace} production: baseAddress`],
  [
    'no repository for the client’s package',
    [elsewhere, own, 'petstore-staging', ''],
    'package.json: set "repository".',
  ],
  ['no address', [own, own, 'petstore-other'], 'There is no address to publish: deploy a stage'],
])('nothing is published with %s', async (_, values, line) => {
  const { status, stdout, stderr } = await writeDocs(...values);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr.trimEnd().split('\n').at(-1)).toContain(line);
  expect(readdirSync(folder)).toEqual([]);
});

it('the documentation has the addresses from settings and stacks', async () => {
  const outcome = await writeDocs(elsewhere);
  expect(outcome).toMatchObject({ status: 0, stderr: '' });
  expect(outcome.stdout).toContain('files written');
  const addresses = [elsewhere.baseAddress, ofGateway];
  const { info, servers } = JSON.parse(read('docs/openapi.json'));
  expect(info.contact.email).toBe(own.contact);
  expect(read('docs/deprecations.html')).toContain(`href="${own.statusPage}"`);
  expect(servers.map(({ url }: { url: string }) => url)).toEqual(addresses);
  expect(read('docs/selling.md')).toContain(addresses[0]);
  expect(read('docs/llms.txt')).toContain(`(${documentationAddress}/selling.md): `);
  expect(read('docs/shop.ts')).toContain(addresses[0]);
  for (const name of readdirSync(`${folder}/docs`)) {
    // An example in the contract has the address of a picture.
    if (name !== 'openapi.json')
      expect(read(`docs/${name}`), name).not.toContain('petstore.example');
  }
});

it('the documentation names a stage that is left out', async () => {
  const { stderr } = await writeDocs(own, {});
  expect(stderr).toMatch(
    /^production is left out, since its address is not known: There is no stack [^\n]+\n/,
  );
});
