import { afterEach, expect, it, vi } from 'vitest';
import {
  defaultProvider,
  EventStreamSerde,
  readFile,
} from '../../../shared/runtime/sdk/replacements.ts';

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
  await expect(readFile('absent', 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
});
