import { afterEach, expect, it, vi } from 'vitest';
import { defaultProvider } from '../../../../infra/service/bundling/environmentCredentials.ts';

afterEach(() => vi.unstubAllEnvs());

it('hands over the credentials that Lambda puts into the environment', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('AWS_SESSION_TOKEN', 'token');
  expect(await defaultProvider()()).toEqual({
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    sessionToken: 'token',
  });
});

it('leaves the session token out where there is none', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('AWS_SESSION_TOKEN', undefined);
  expect(await defaultProvider()()).toEqual({ accessKeyId: 'id', secretAccessKey: 'secret' });
});

it('says which variables are needed where they are missing, and tells no value', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hidden');
  const error = await defaultProvider()().catch((cause: unknown) => cause);
  expect(String(error)).toBe(
    'Error: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must both be set.',
  );
});
