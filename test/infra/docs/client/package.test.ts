import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { transform } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildClient, packClient, tarballName } from '../../../../infra/docs/client/buildClient.ts';
import { projectRoot } from '../../../../infra/stages/projectRoot.ts';
import packageJson from '../../../../package.json' with { type: 'json' };
import { operationIds } from '../../../../shared/contract/operations.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';

/** Bytes, minified and gzipped: a storefront's page loads all of it. The method of a team's own operation comes on top. */
const BUDGET = 7 * 1024 + 64 * Math.max(0, operationIds.length - 6);

const documentationAddress = 'https://docs.shop.example/inventory';
const baseUrl = 'https://api.shop.example/v1';

const run = promisify(execFile);
const tsc = join(projectRoot, 'node_modules/.bin/tsc');

describe('the client’s package', () => {
  const { folder, toPath, read, write } = openTemporaryFolder();
  let tarball: string;
  // npm would call the registry. To install a package without dependencies, it is enough to unpack it.
  const installed = 'node_modules/petstore-inventory-client';
  beforeAll(async () => {
    tarball = await buildClient(folder, documentationAddress, baseUrl);
    mkdirSync(toPath(installed), { recursive: true });
    await run('tar', ['xzf', tarball, '--strip-components=1', '--directory', toPath(installed)]);
  });

  const readPackage = (name: string) => read(`${installed}/${name}`);
  const readManifest = () => JSON.parse(readPackage('package.json'));

  it('has the service’s version and repository, its Node.js, no dependencies and no scripts', () => {
    const { repository = undefined } = packageJson as { repository?: unknown };
    expect(basename(tarball)).toBe(`petstore-inventory-client-${packageJson.version}.tgz`);
    const manifest = readManifest();
    expect(manifest).toMatchObject({ version: packageJson.version, engines: { node: '>=20' } });
    expect(manifest.repository).toEqual(repository);
    expect(Object.keys(manifest).filter((key) => /depend|scripts/i.test(key))).toEqual([]);
    const files = 'LICENSE README.md index.d.ts index.js package.json';
    expect(readdirSync(toPath(installed)).sort()).toEqual(files.split(' '));
  });

  it('has a README with its own address, and with that of a stage', () => {
    const readme = readPackage('README.md');
    expect(readme).toContain(`npm install ${documentationAddress}/${tarballName}\n`);
    expect(readme).toContain(`baseUrl: '${baseUrl}'`);
    expect(readme).not.toContain('127.0.0.1');
  });

  it('has the same bytes each time that it is built', async () => {
    expect(await packClient(documentationAddress, baseUrl)).toEqual(readFileSync(tarball));
  });

  it('imports nothing', () => {
    expect(readPackage('index.js')).not.toMatch(/^import\b|\bimport\(|\brequire\(|\bprocess\b/m);
  });

  it(`is at most ${BUDGET} bytes, minified and gzipped`, async () => {
    const { code } = await transform(readPackage('index.js'), { minify: true });
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(BUDGET);
  });

  // TypeScript 7 has no `moduleResolution: node10`, so the third file follows its rules.
  it('has types for each kind of resolution that need no other package, also with an older library', async () => {
    const { main, types } = readManifest();
    expect(readPackage(types)).not.toMatch(/\bimport\b|\bfrom '|toList|defineInventoryMethods/);
    expect(main.replace(/\.js$/, '.d.ts')).toBe(types);
    const client = `./${installed}/${types.replace(/\.d\.ts$/, '.js')}`;
    const files = ['shop.mts', 'shop.cts'].map((name) => write(name, consumer));
    files.push(write('shop-node10.mts', consumer.replace('petstore-inventory-client', client)));
    await compile([...files, '--module', 'esnext', '--moduleResolution', 'bundler']);
    await compile([...files, '--module', 'nodenext', '--lib', 'es2020,dom']);
  });

  /** With the defaults of `tsc --init`, except that the package's types are checked too. */
  function compile(args: readonly string[]): Promise<unknown> {
    const strict =
      '--strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --noEmit --types';
    const other =
      '--singleThreaded --skipLibCheck false --skipDefaultLibCheck --target es2022 --lib es2022,dom';
    const all = [...strict.split(' '), '', ...other.split(' '), ...args];
    return run(tsc, all, { cwd: folder }).catch(({ stdout }) => expect.fail(stdout));
  }

  it.each([
    ['import', 'call.mjs', "import * as client from 'petstore-inventory-client';"],
    ['require', 'call.cjs', "const client = require('petstore-inventory-client');"],
  ])('works in Node.js after installation, by %s', async (_, name, load) => {
    const { stdout } = await run(process.execPath, [write(name, load + caller)]);
    const documentation = `${documentationAddress}/errors.html#connection_failed`;
    const agents = `petstore-inventory-client/${packageJson.version} shop/1 null`;
    expect(stdout).toBe(`PetstoreError connection_failed true ${documentation} ${agents}\n`);
  });
});

const caller = `
const { PetstoreError } = client;
const agents = [];
async function call({ createPetstoreClient }, headers) {
  const fetch = async (_, init) => {
    agents.push(init.headers.get('User-Agent'));
    throw new Error();
  };
  const options = { baseUrl: 'http://shop.example/v1', apiKey: 'psk_x', maxRetries: 0, fetch, headers };
  return createPetstoreClient(options).listInventory().catch((error) => error);
}
(async () => {
  const error = await call(client);
  await call(client, { 'User-Agent': 'shop/1' });
  globalThis.location = {};
  await call(await import('./node_modules/petstore-inventory-client/index.js?browser'));
  const { name, code, documentation } = error;
  console.log(name, code, error instanceof PetstoreError, documentation, ...agents);
})();
`;

const consumer = `
import {
  type ClientOptions, createPetstoreClient, type ErrorCode, type InventoryItem, type Order,
  type PetStatus, PetstoreError,
} from 'petstore-inventory-client';
const options: ClientOptions = { baseUrl: 'https://api.example.com/v1', apiKey: 'psk_x' };
const client = createPetstoreClient({ ...options, fetch });
export async function look(): Promise<[PetStatus, ErrorCode, unknown]> {
  const items: InventoryItem[] = (await client.listInventory({ status: 'sold', petIds: [7n] })).items;
  const orders: Order[] = [];
  for await (const order of client.orders()) orders.push(order);
  const { status }: InventoryItem = await client.getInventoryEntry(7n);
  // @ts-expect-error: an id is a bigint, since a number may be rounded.
  await client.getInventoryEntry(7);
  return [status, 'not_found', [items, orders, PetstoreError]];
}
`;
