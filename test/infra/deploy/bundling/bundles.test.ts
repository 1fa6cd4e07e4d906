import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { buildApp } from '../../../../infra/deploy/buildApp.ts';
import { projectRoot } from '../../../../infra/stages/projectRoot.ts';
import { tableNames, tables } from '../../../../infra/stages/tables.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';
import { writeBundle } from '../../../support/bundles.ts';
import { fixtures } from '../../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';

/** Bytes. A cold start reads and compiles all of them: find out what grew before you raise this. */
const BUDGET = 225_000;
/** What zod takes besides, for a body with a list, and the pets of a refusal, which are stored and read. */
const LIST_BUDGET = 7_500;

// Outside the checkout: its package.json would make Node load a bundle as an ES module.
const outdir = openTemporaryFolder().folder;
const bundles = synthesizeBundles();

/** The folder of each operation's bundle, as a deployment would upload it. */
function synthesizeBundles(): Record<OperationId, string> {
  // All stages have the same code.
  const name = 'petstore-staging';
  const context = { 'aws:cdk:bundling-stacks': [name], 'aws:cdk:enable-asset-metadata': true };
  // The CDK runs `npx --no-install esbuild` for each function, where npx takes longer than esbuild.
  const { write, folder } = openTemporaryFolder();
  chmodSync(write('npx', `#!/bin/sh\nshift\nexec "${projectRoot}/node_modules/.bin/$@"\n`), 0o755);
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
  const assembly = buildApp({ outdir, context }, [fixtures.staging]).synth();
  vi.unstubAllEnvs();
  const { Resources } = assembly.getStackByName(name).template;
  return mapOperations((id) => {
    const { Metadata } = Object.values<CfnFunction>(Resources).find(
      ({ Properties }) => Properties?.FunctionName === `petstore-staging-${id}`,
    ) as CfnFunction;
    return join(outdir, Metadata['aws:asset:path']);
  });
}

interface CfnFunction {
  readonly Properties?: { readonly FunctionName?: string };
  readonly Metadata: { readonly 'aws:asset:path': string };
}

it.each(operationIds)('the bundle of %s has only its own code', async (id) => {
  const folder = bundles[id];
  // For `index.handler`, Lambda tries index, index.js and index.mjs, in this order.
  expect(readdirSync(folder)).toEqual(['function.cjs', 'index.mjs']);
  const bytes = readFileSync(join(folder, 'function.cjs'));
  expect(bytes.length).toBeLessThan(BUDGET + (id === 'adjustInventory' ? LIST_BUDGET : 0));
  // Other tests write the same files without the CDK.
  const written = join(outdir, `written-${id}`);
  await writeBundle(id, written);
  expect(readdirSync(written)).toEqual(readdirSync(folder));
  for (const file of readdirSync(folder)) {
    expect(readFileSync(join(written, file)).equals(readFileSync(join(folder, file)))).toBe(true);
  }
  // It brings its own SDK, and takes credentials from the environment alone.
  const code = String(bytes);
  expect(code).not.toMatch(/require\("@/);
  expect(code).toContain('DynamoDB_20120810');
  expect(code).toContain('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must both be set.');
  expect(code).not.toMatch(/GetRoleCredentials|AssumeRoleWithWebIdentity|credential_process/);
  expect(code).not.toMatch(/AWS_CONTAINER_CREDENTIALS_RELATIVE_URI|meta-data\/iam/);
});

it('each bundle exports its function, whose warm-up calls DynamoDB, and loads no slow module', () => {
  const output = execFileSync(process.execPath, ['-e', load, ...Object.values(bundles)], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...environment },
  });
  const { loaded, found } = JSON.parse(output);
  expect(found).toEqual(
    Object.keys(bundles).map((id) => ({
      exported: ['function handler', 'function warmUp'],
      ofEntry: ['handler'],
      streaming: operations[id as OperationId].streamed ? 'response' : null,
      modulesOfEntry: [],
      // Nothing listens there: the warm-up did call it, and was awaited.
      logged: [expect.objectContaining({ requestId: 'warm-up' })],
    })),
  );
  expect(loaded).toContain('https');
  for (const name of ['zlib', 'fs/promises', 'readline', 'http2', 'child_process']) {
    expect(loaded).not.toContain(name);
  }
});

const environment = {
  ALLOWED_ORIGINS: '*',
  DOCUMENTATION_ADDRESS: 'https://docs.petstore.example',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1',
  ...Object.fromEntries(tableNames.map((name) => [tables[name].variable, name])),
};

/** Loads bundles and their entry files, as Lambda does, and prints what they export, load and log. */
const load = `
  const logged = [];
  console.error = (line) => logged.push(line);
  const kind = Symbol.for('aws.lambda.runtime.handler.streaming');
  globalThis.awslambda = {
    streamifyResponse: (handler) => Object.assign(handler, { [kind]: 'response' }),
    HttpResponseStream: { from: (stream) => stream },
  };
  const { join } = require('node:path');
  const bundles = process.argv.slice(1).map((folder) => [folder, require(join(folder, 'function.cjs'))]);
  const toModules = () => process.moduleLoadList.map((name) => name.replace('NativeModule ', ''));
  const loaded = toModules();
  import('node:url').then(async ({ pathToFileURL }) => {
    const found = [];
    for (const [folder, bundle] of bundles) {
      const exported = Object.entries(bundle).map(([name, one]) => typeof one + ' ' + name);
      await bundle.warmUp();
      const known = new Set(toModules());
      logged.length = 0;
      const { href } = pathToFileURL(join(folder, 'index.mjs'));
      const entry = await import(href);
      const ofEntry = Object.keys(entry);
      const streaming = entry.handler[kind] ?? null;
      // Lambda's runtime is an ES module, so their loader is already loaded there.
      const modulesOfEntry = toModules().filter((name) => !known.has(name) && !/^(internal.modules|Internal)/.test(name));
      found.push({ exported, ofEntry, streaming, modulesOfEntry, logged: logged.splice(0) });
    }
    console.log(JSON.stringify({ loaded, found }));
    process.exit();
  });
`;
