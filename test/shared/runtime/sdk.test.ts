import { afterEach, expect, it, vi } from 'vitest';
import {
  defaultProvider,
  EventStreamSerde,
  readFile,
} from '../../../shared/runtime/sdk/replacements.ts';
import { Sha256 } from '../../../shared/runtime/sdk/sha256.ts';

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

afterEach(() => vi.unstubAllEnvs());

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
