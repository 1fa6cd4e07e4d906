import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  buildClient,
  bundleClient,
  packClient,
  tarballName,
} from '../../../infra/client/buildClient.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';

/** Bytes, minified and gzipped: a storefront's page loads all of it. The method of a team's own operation comes on top. */
const BUDGET = 6 * 1024 + 64 * Math.max(0, operationIds.length - 5);

const documentationAddress = 'https://docs.shop.example/inventory';

const run = promisify(execFile);
const tsc = join(projectRoot, 'node_modules/.bin/tsc');

describe('the client’s package', () => {
  const { folder } = openTemporaryFolder();
  let tarball: string;
  let installed: string;
  beforeAll(async () => {
    tarball = await buildClient(folder, documentationAddress);
    // npm would call the registry. To install a package without dependencies, it is enough to unpack it.
    installed = join(folder, 'node_modules/petstore-inventory-client');
    await mkdir(installed, { recursive: true });
    await run('tar', ['xzf', tarball, '--strip-components=1', '--directory', installed]);
  });

  const readManifest = async (path: string) => JSON.parse(await readFile(path, 'utf8'));

  it('has the service’s version and repository, its Node.js, no dependencies and no scripts', async () => {
    const { version, repository } = await readManifest(join(projectRoot, 'package.json'));
    expect(basename(tarball)).toBe(`petstore-inventory-client-${version}.tgz`);
    const manifest = await readManifest(join(installed, 'package.json'));
    expect(manifest).toMatchObject({ version, engines: { node: '>=20' } });
    expect(manifest.repository).toEqual(repository);
    expect(Object.keys(manifest).filter((key) => /depend|scripts/i.test(key))).toEqual([]);
    const files = 'CHANGELOG.md LICENSE README.md cjs examples index.d.ts index.js package.json';
    expect((await readdir(installed)).sort()).toEqual(files.split(' '));
  });

  it('has a README with its own address, and the changes that its users notice', async () => {
    const readme = await readFile(join(installed, 'README.md'), 'utf8');
    expect(readme).toContain(`npm install ${documentationAddress}/${tarballName}\n`);
    expect(readme).not.toContain('127.0.0.1:3000/docs');
    const changelog = await readFile(join(installed, 'CHANGELOG.md'), 'utf8');
    expect(changelog).toMatch(/^# Changelog\n\n## .*\n\n- /);
    expect(changelog).toContain('\n## 1.1.0 - 2026-11-22\n\n- Updates with');
    expect(changelog).not.toMatch(/^###|For operators/m);
  });

  it('has the same bytes each time that it is built', async () => {
    expect(await packClient(documentationAddress)).toEqual(await readFile(tarball));
  });

  it.each(['index.js', 'cjs/index.js'])('imports nothing in %s', async (file) => {
    const code = await readFile(join(installed, file), 'utf8');
    expect(code).not.toMatch(/^import\b|\bimport\(|\brequire\(|\bprocess\b/m);
  });

  it(`is at most ${BUDGET} bytes, minified and gzipped`, async () => {
    const file = join(folder, 'minified.js');
    await bundleClient(file, { minify: true, documentationAddress });
    expect(gzipSync(await readFile(file), { level: 9 }).length).toBeLessThanOrEqual(BUDGET);
  });

  it('has types that need no other package, and its README and examples compile with them', async () => {
    await writeFile(join(folder, 'shop.mts'), consumer);
    await writeFile(join(folder, 'shop.cts'), consumer);
    const readme = await readFile(join(installed, 'README.md'), 'utf8');
    const snippets = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
    expect(snippets).toHaveLength(2);
    await writeFile(join(folder, 'readme.mts'), snippets.join('\n'));
    const files = ['shop.mts', 'shop.cts', 'readme.mts'].map((name) => join(folder, name));
    for (const modules of [
      ['--module', 'node16'],
      ['--module', 'nodenext'],
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ]) {
      await compile([...files, ...modules]);
    }
    // A reader's own copies.
    const examples = join(folder, 'examples');
    await cp(join(installed, 'examples'), examples, { recursive: true });
    await writeFile(join(examples, 'package.json'), '{ "type": "module" }');
    const programs = (await readdir(examples, { recursive: true })).filter((name) =>
      /\.ts$/.test(name),
    );
    expect(programs).toContain('list.ts');
    const copies = programs.map((name) => join(examples, name));
    const types = ['--types', 'node', '--typeRoots', join(projectRoot, 'node_modules/@types')];
    // Node.js runs them as they are, so they import each other by `.ts`.
    const modules = ['--module', 'nodenext', '--allowImportingTsExtensions'];
    await compile([...copies, ...modules, ...types]);
    const env = { ...process.env, BASE_ADDRESS: 'nowhere', API_KEY: 'psk_x' };
    const listing = run(process.execPath, [join(examples, 'list.ts')], { env });
    await expect(listing).rejects.toThrow('TypeError: baseUrl');
  });

  /** With the defaults of `tsc --init`, except `skipLibCheck`. */
  function compile(args: readonly string[]): Promise<unknown> {
    const strict =
      '--strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --noEmit --types';
    const other = '--skipLibCheck false --target es2022 --lib es2022,dom';
    const all = [...strict.split(' '), '', ...other.split(' '), ...args];
    return run(tsc, all, { cwd: folder }).catch(({ stdout }) => expect.fail(stdout));
  }

  // TypeScript 7 has no `moduleResolution: node10`, so this follows its rules.
  it('has an entry for compilers that read no exports, in one file without imports', async () => {
    const { main, types } = await readManifest(join(installed, 'package.json'));
    const program = 'shop-node10.cts';
    const client = `./node_modules/petstore-inventory-client/${types.replace(/\.d\.ts$/, '.js')}`;
    await writeFile(join(folder, program), consumer.replace('petstore-inventory-client', client));
    await compile([join(folder, program), '--module', 'node16']);
    const declared = await readFile(join(installed, types), 'utf8');
    expect(declared).not.toMatch(/\bimport\b|\bfrom '/);
    expect(declared).not.toMatch(/toList|defineInventoryMethods/);
    expect(main.replace(/\.js$/, '.d.ts')).toBe(types);
    await run(process.execPath, ['--eval', `require(${JSON.stringify(join(installed, main))})`]);
  });

  it.each([
    ['import', 'call.mjs', "import * as client from 'petstore-inventory-client';"],
    ['require', 'call.cjs', "const client = require('petstore-inventory-client');"],
  ])('works in Node.js after installation, by %s', async (_, name, load) => {
    await writeFile(join(folder, name), load + caller);
    // Like Node.js 20, which cannot require an ES module.
    const args = ['--no-experimental-require-module', join(folder, name)];
    const { stdout } = await run(process.execPath, args);
    const documentation = `${documentationAddress}/errors.html#connection_failed`;
    const { version } = await readManifest(join(projectRoot, 'package.json'));
    const agents = `petstore-inventory-client/${version} shop/1 null`;
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
  type ClientOptions, createPetstoreClient, type ErrorCode, type InventoryItem, type Order, type Pet,
  type PetStatus, PetstoreError,
} from 'petstore-inventory-client';
const options: ClientOptions = { baseUrl: 'https://api.example.com/v1', apiKey: 'psk_x' };
const client = createPetstoreClient({ ...options, fetch });
export async function look(): Promise<[PetStatus, ErrorCode, unknown]> {
  const items: InventoryItem[] = (await client.listInventory({ status: 'sold', petIds: [7n] })).items;
  const orders: Order[] = [];
  for await (const order of client.orders()) orders.push(order);
  const { status }: Pet = await client.getPet(7n);
  // @ts-expect-error: an id is a bigint, since a number may be rounded.
  await client.getPet(7);
  return [status, 'not_found', [items, orders, PetstoreError]];
}
`;
