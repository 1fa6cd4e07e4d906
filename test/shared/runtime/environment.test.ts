import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readClientSettings } from '../../../shared/runtime/sdk/settings.ts';
import { openService } from '../../../shared/runtime/service.ts';
import { writeBundle } from '../../support/bundles.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';

const { folder, toPath } = openTemporaryFolder();

afterEach(() => vi.unstubAllEnvs());

describe("a function's client", () => {
  const general = { AWS_ENDPOINT_URL: 'http://b' };
  it.each<[string, Record<string, string>, string?]>([
    ['its own variable', { AWS_ENDPOINT_URL_DYNAMODB: 'http://a', ...general }, 'http://a'],
    ['the general one', general, 'http://b'],
    ['neither', {}],
    ['neither, if one is empty', { AWS_ENDPOINT_URL_DYNAMODB: '' }],
    ['neither, if both are ignored', { ...general, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' }],
  ])('takes its endpoint from %s', (_, variables, endpoint) => {
    stubEnvironment(variables);
    expect(readClientSettings().endpoint).toBe(endpoint);
  });

  it('takes the region and the kind of endpoint from the environment', () => {
    stubEnvironment({});
    const usual = { region: 'eu-west-1', useFipsEndpoint: false, useDualstackEndpoint: false };
    expect(readClientSettings()).toMatchObject(usual);
    stubEnvironment({ AWS_USE_FIPS_ENDPOINT: 'true', AWS_USE_DUALSTACK_ENDPOINT: 'True' });
    expect(readClientSettings()).toMatchObject({
      useFipsEndpoint: true,
      useDualstackEndpoint: true,
    });
  });

  it.each([undefined, ''])('does not start without a region: %j', (region) => {
    stubEnvironment({});
    vi.stubEnv('AWS_REGION', region);
    expect(readClientSettings).toThrow('The environment variable AWS_REGION is not set.');
  });
});

it('the service allows each listed origin of the stage, and links to its documentation', () => {
  stubEnvironment({});
  vi.stubEnv('API_KEYS_TABLE', 'keys');
  vi.stubEnv('ALLOWED_ORIGINS', 'https://one.example,https://other.example');
  vi.stubEnv('DOCUMENTATION_ADDRESS', 'https://docs.petstore.example');
  expect(openService()).toMatchObject({
    documentationAddress: 'https://docs.petstore.example',
    allowedOrigins: ['https://one.example', 'https://other.example'],
  });
});

it('a built function reads no configuration file', async () => {
  const names = ['ALLOWED_ORIGINS', 'DOCUMENTATION_ADDRESS', 'INVENTORY_TABLE', 'REQUESTS_TABLE'];
  const bundle = await writeBundle('updateInventory', folder);
  const text = execFileSync(process.execPath, ['-e', listReads, bundle], {
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      AWS_CONFIG_FILE: toPath('config'),
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
      API_KEYS_TABLE: 'apiKeys',
      ...Object.fromEntries(names.map((name) => [name, 'x'])),
    },
  });
  const asked = [expect.stringContaining('dynamodb.eu-west-1.amazonaws.com')];
  expect(JSON.parse(text)).toEqual({ reads: [], asked });
});

function stubEnvironment(variables: Record<string, string>): void {
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  for (const name of ['ENDPOINT_URL_DYNAMODB', 'ENDPOINT_URL', 'IGNORE_CONFIGURED_ENDPOINT_URLS']) {
    vi.stubEnv(`AWS_${name}`, variables[`AWS_${name}`]);
  }
  for (const name of ['AWS_USE_FIPS_ENDPOINT', 'AWS_USE_DUALSTACK_ENDPOINT']) {
    vi.stubEnv(name, variables[name]);
  }
}

/** Loads the function without network, and prints the files that it read and the hosts that it called. */
const listReads = `
  const fs = require('node:fs');
  const https = require('node:https');
  const { EventEmitter } = require('node:events');
  const reads = [];
  const asked = new Set();
  for (const name of ['readFile', 'stat', 'access', 'open']) {
    const real = fs.promises[name];
    fs.promises[name] = (path, ...rest) => { reads.push(String(path)); return real(path, ...rest); };
  }
  console.error = () => {};
  https.request = (options) => {
    asked.add(options.host ?? options.hostname);
    const request = new EventEmitter();
    setImmediate(() => request.emit('error', Object.assign(new Error('no network'), { code: 'ECONNREFUSED' })));
    return Object.assign(request, { write() {}, end() {}, destroy() {}, setTimeout() {}, setNoDelay() {} });
  };
  import(require('node:url').pathToFileURL(process.argv[1]).href).then(() => {
    console.log(JSON.stringify({ reads, asked: [...asked] }));
    process.exit();
  });
`;
