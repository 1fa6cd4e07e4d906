import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildApp } from '../../../../infra/buildApp.ts';
import { tableNames, tables } from '../../../../infra/stages/tables.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';
import { buildBundle } from '../../../support/bundles.ts';
import { fixtures } from '../../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';

/** Bytes. A cold start reads and compiles all of them: find out what grew before you raise this. */
const BUDGET = 225_000;

// Outside the checkout: its package.json would make Node load a bundle as an ES module.
const outdir = openTemporaryFolder().folder;
const bundles = synthesizeBundles();

/** The folder of each operation's bundle, as a deployment would upload it. */
function synthesizeBundles(): Record<OperationId, string> {
  // All stages have the same code.
  const name = 'petstore-staging';
  const context = { 'aws:cdk:bundling-stacks': [name], 'aws:cdk:enable-asset-metadata': true };
  const assembly = buildApp({ outdir, context }, [fixtures.staging]).synth();
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

describe.each(operationIds)('the bundle of %s', (id) => {
  const path = toBundle(id);
  const code = readFileSync(path, 'utf8');

  it('is one CommonJS file, and the entry file that Lambda loads', () => {
    // For `index.handler`, Lambda tries index, index.js and index.mjs, in this order.
    expect(readdirSync(dirname(path))).toEqual(['function.cjs', 'index.mjs']);
  });

  it('is byte for byte the same as built without the CDK for other tests', async () => {
    expect(Buffer.from(await buildBundle(id)).equals(readFileSync(path))).toBe(true);
  });

  it('stays within its budget', () => {
    expect(Buffer.byteLength(code)).toBeLessThan(BUDGET);
  });

  it('brings its own SDK, and takes credentials from the environment alone', () => {
    expect(code).not.toMatch(/require\("@/);
    expect(code).toContain('DynamoDB_20120810');
    expect(code).toContain('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must both be set.');
    expect(code).not.toMatch(/GetRoleCredentials|AssumeRoleWithWebIdentity|credential_process/);
    expect(code).not.toMatch(/AWS_CONTAINER_CREDENTIALS_RELATIVE_URI|meta-data\/iam/);
  });
});

function toBundle(id: OperationId): string {
  return join(bundles[id], 'function.cjs');
}

/** What a script prints of files, with a function's environment. */
const run = (script: string, ...files: string[]) =>
  execFileSync(process.execPath, ['-e', script, ...files], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...environment },
  });

it('bundles export two functions each, and load no modules of Node.js that they do not use', () => {
  const loaded = run(listModules, ...operationIds.map(toBundle)).split('\n');
  expect(loaded).toContain('https');
  const exported = loaded.filter((line) => line === 'function handler,function warmUp');
  expect(exported).toHaveLength(operationIds.length);
  for (const name of ['zlib', 'fs/promises', 'readline', 'http2', 'child_process']) {
    expect(loaded).not.toContain(name);
  }
});

it.each(operationIds)('the entry file of %s exports its handler after its warm-up', (id) => {
  const { logged, ...found } = JSON.parse(run(readFront, join(bundles[id], 'index.mjs')));
  const { streamed = false } = operations[id];
  const streaming = streamed ? 'response' : null;
  expect(found).toEqual({ names: ['handler'], streaming, modules: [] });
  // Nothing listens there: the warm-up did call it, and was awaited.
  expect(logged).toEqual([expect.objectContaining({ requestId: 'warm-up' })]);
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

const listModules = `
  globalThis.awslambda = { streamifyResponse: (handler) => handler };
  for (const bundle of process.argv.slice(1)) {
    console.log(Object.entries(require(bundle)).map(([name, one]) => typeof one + ' ' + name).join());
  }
  console.log(process.moduleLoadList.map((name) => name.replace('NativeModule ', '')).join('\\n'));
`;

const readFront = `
  const logged = [];
  console.error = (line) => logged.push(line);
  globalThis.awslambda = {
    streamifyResponse(handler) {
      handler[Symbol.for('aws.lambda.runtime.handler.streaming')] = 'response';
      return handler;
    },
    HttpResponseStream: { from: (stream) => stream },
  };
  // Lambda's runtime is an ES module, so their loader is already loaded there.
  const toModules = () => process.moduleLoadList.filter((name) => /^NativeModule (?!internal.modules)/.test(name));
  import('node:url').then(async ({ pathToFileURL }) => {
    const { warmUp } = require(require('node:path').join(require('node:path').dirname(process.argv[1]), 'function.cjs'));
    await warmUp();
    const known = new Set(toModules());
    logged.length = 0;
    const module = await import(pathToFileURL(process.argv[1]).href);
    const streaming = module.handler[Symbol.for('aws.lambda.runtime.handler.streaming')] ?? null;
    const modules = toModules().filter((name) => !known.has(name));
    console.log(JSON.stringify({ names: Object.keys(module), streaming, modules, logged }));
    process.exit();
  });
`;
