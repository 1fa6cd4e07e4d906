import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  defaultProvider,
  EventStreamSerde,
  readFile,
} from '../../../shared/runtime/sdk/replacements.ts';
import { readClientSettings } from '../../../shared/runtime/sdk/settings.ts';
import { Sha256 } from '../../../shared/runtime/sdk/sha256.ts';
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

it('SHA-256 is the one of FIPS 180-2, appendix B.1', async () => {
  expect(await digest(new Sha256(), 'abc')).toMatch(/^ba7816bf8f01cfea.*f20015ad$/);
});

// https://www.rfc-editor.org/rfc/rfc4231#section-4
const bytes = Uint8Array.from({ length: 20 }, () => 0x0b);
it.each([
  ['text', 'Jefe', 'what do ya want for nothing?', /^5bdcc146bf60754e.*3843$/],
  ['bytes', bytes, 'Hi There', /^b0344c61d8db3853.*cff7$/],
  ['bytes amid others', Uint8Array.from([1, ...bytes, 1]).subarray(1, -1), 'Hi There', /^b0344c61/],
  ['a buffer', bytes.buffer, 'Hi There', /^b0344c61/],
])('with a secret of %s it is the HMAC of RFC 4231, also after a reset', async (...row) => {
  const [, secret, text, expected] = row;
  const hash = new Sha256(secret);
  expect(await digest(hash, text)).toMatch(expected);
  hash.reset();
  expect(await digest(hash, text)).toMatch(expected);
});

async function digest(hash: Sha256, text: string): Promise<string> {
  hash.update(Buffer.from(text.slice(0, 2)));
  hash.update(Buffer.from(text.slice(2)));
  return Buffer.from(await hash.digest()).toString('hex');
}

const keys = { accessKeyId: 'id', secretAccessKey: 'secret' };
const missing = 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must both be set.';

it.each([
  ['id', 'secret', 'token', { ...keys, sessionToken: 'token' }],
  ['id', 'secret', undefined, keys],
  [undefined, 'hidden', undefined, missing],
  ['id', undefined, undefined, missing],
])('with %s, %s and %s in the environment, the credentials are %j', async (...row) => {
  const [id, secret, token, expected] = row;
  vi.stubEnv('AWS_ACCESS_KEY_ID', id);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
  vi.stubEnv('AWS_SESSION_TOKEN', token);
  expect(await defaultProvider()().catch(({ message }) => message)).toEqual(expected);
});

it('an event stream is refused, and a file is read as by node:fs/promises', async () => {
  expect(EventStreamSerde).toThrow('The bundles leave event streams out');
  expect(await readFile(import.meta.filename, 'utf8')).toContain('is read as by');
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
