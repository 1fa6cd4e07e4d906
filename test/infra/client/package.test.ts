import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildClient, bundleClient } from '../../../infra/client/buildClient.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';

/** Bytes, minified and gzipped: a storefront's page loads all of it. */
const BUDGET = 6 * 1024;

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

  it('has the service’s version, no dependencies and no scripts', async () => {
    const { version } = await readManifest(join(projectRoot, 'package.json'));
    expect(basename(tarball)).toBe(`petstore-inventory-client-${version}.tgz`);
    const manifest = await readManifest(join(installed, 'package.json'));
    expect(manifest.version).toBe(version);
    expect(Object.keys(manifest).filter((key) => /depend|scripts/i.test(key))).toEqual([]);
    const files = 'LICENSE README.md cjs index.js package.json types'.split(' ');
    expect((await readdir(installed)).sort()).toEqual(files);
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

  it('has types that need no other package, and its README compiles with them', async () => {
    await writeFile(join(folder, 'shop.mts'), consumer);
    await writeFile(join(folder, 'shop.cts'), consumer);
    const readme = await readFile(join(installed, 'README.md'), 'utf8');
    const snippets = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
    expect(snippets).toHaveLength(2);
    await writeFile(join(folder, 'readme.mts'), snippets.join('\n'));
    const files = ['shop.mts', 'shop.cts', 'readme.mts'].map((name) => join(folder, name));
    const strict = ['--strict', '--noEmit', '--types', '', '--skipLibCheck', 'false'];
    const common = [...files, ...strict, '--target', 'es2022', '--lib', 'es2022,dom'];
    for (const modules of [
      ['--module', 'node16'],
      ['--module', 'nodenext'],
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ]) {
      const compiling = run(tsc, [...common, ...modules], { cwd: folder });
      await compiling.catch(({ stdout }) => expect.fail(stdout));
    }
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
    expect(stdout).toBe(`PetstoreError connection_failed true ${documentation}\n`);
  });
});

const caller = `
const { createPetstoreClient, PetstoreError } = client;
const petstore = createPetstoreClient({ baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'psk_x', maxRetries: 0 });
petstore.listInventory().catch((error) =>
  console.log(error.name, error.code, error instanceof PetstoreError, error.documentation));
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
