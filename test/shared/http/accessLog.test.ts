import { expect, it, vi } from 'vitest';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { defineKeyVerifier } from '../../../shared/keys/keyVerifier.ts';
import { countFailedWrite, countUnits } from '../../../shared/runtime/requestUnits.ts';
import { toProxyRequest } from '../../support/proxyRequest.ts';

const { apiKey, keyId, secretHash } = mintApiKey();
const key = {
  keyId,
  secretHash,
  name: 'storefront-web',
  permission: 'read',
  createdAt: '',
} as const;

type Answer = () => Promise<{ body: unknown }>;

/** A handler as a container has it, with a cache of keys of its own, that gives what it logged. */
function defineLogged(answer: Answer) {
  const get = async (id: string) => {
    countUnits('read', 1);
    return id === keyId ? key : undefined;
  };
  const settings = {
    verifier: defineKeyVerifier({ get }),
    allowedOrigins: ['*'],
    documentationAddress: '',
    commit: '0123456789ab',
  };
  const handler = defineHandler(getPet, settings, answer);
  return async (authorization: string, headers: Record<string, string[]> = {}) => {
    const info = vi.spyOn(console, 'info').mockImplementation(() => {});
    vi.spyOn(console, 'error').mockImplementation(() => {});
    await handler(
      toProxyRequest({ authorization: [authorization], ...headers }, { petId: '7' }) as never,
      {} as never,
    );
    const lines = info.mock.calls.map(([line]) => line);
    vi.restoreAllMocks();
    return lines;
  };
}

async function logOf(
  authorization: string,
  answer: Answer,
  headers: Record<string, string[]> = {},
) {
  return defineLogged(answer)(authorization, headers);
}

it('says who did what, with which outcome, how fast and at which cost, in one line', async () => {
  const lines = await logOf(`Bearer ${apiKey}`, async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    countUnits('read', 0.5);
    countUnits('write', 2);
    return { body: {} };
  });
  expect(lines).toEqual([
    {
      operation: 'getPet',
      requestId: 'request-1',
      status: 200,
      milliseconds: expect.any(Number),
      readUnits: 1.5,
      keyReadUnits: 1,
      writeUnits: 2,
      keyId,
      keyName: 'storefront-web',
      commit: '0123456789ab',
    },
  ]);
  expect(lines[0].milliseconds).toBeGreaterThanOrEqual(19);
  expect(lines[0].milliseconds).toBeLessThan(60_000);
});

it('says which part of the read units the key’s lookup was, where there was one', async () => {
  const answer = async () => {
    countUnits('read', 0.5);
    return { body: {} };
  };
  const handler = defineLogged(answer);
  expect(await handler(`Bearer ${apiKey}`)).toMatchObject([{ readUnits: 1.5, keyReadUnits: 1 }]);
  const [cached] = await handler(`Bearer ${apiKey}`);
  expect(cached).toMatchObject({ readUnits: 0.5 });
  expect(cached).not.toHaveProperty('keyReadUnits');
  const [unknown] = await handler(`Bearer ${mintApiKey('0123456789').apiKey}`);
  expect(unknown).toMatchObject({ status: 401, readUnits: 1, keyReadUnits: 1 });
});

it('counts writes whose condition failed, and their units, where there were some', async () => {
  const [line] = await logOf(`Bearer ${apiKey}`, async () => {
    countUnits('write', 1);
    countFailedWrite(1);
    countFailedWrite(1);
    return { body: {} };
  });
  expect(line).toMatchObject({ writeUnits: 3, failedWrites: 2 });
  const [other] = await logOf(`Bearer ${apiKey}`, async () => ({ body: {} }));
  expect(other).not.toHaveProperty('failedWrites');
});

it('counts each of several requests at once by itself', async () => {
  const answer = async () => {
    countUnits('read', 1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    countUnits('read', 1);
    return { body: {} };
  };
  const lines = await Promise.all([1, 2, 3].map(() => logOf(`Bearer ${apiKey}`, answer)));
  for (const { readUnits } of lines.flat()) expect(readUnits).toBe(3);
});

it.each([
  [['shop-7.a_B'], 'shop-7.a_B'],
  [['x'.repeat(64)], 'x'.repeat(64)],
  [['x'.repeat(65)], undefined],
  [['a b'], undefined],
  [['a\nb'], undefined],
  [['{"forged":1}'], undefined],
  [[''], undefined],
  [['a', 'b'], undefined],
])('has a client’s own name for its request where it is a plain one: %j', async (lines, named) => {
  const answer = async () => ({ body: {} });
  const [line] = await logOf(`Bearer ${apiKey}`, answer, { 'X-Request-Id': lines });
  expect(line.clientRequestId).toBe(named);
  expect(line.requestId).toBe('request-1');
});

it.each([
  ['Basic dXNlcjpwYXNzd29yZA==', { refused: 'no bearer credentials', keyId: undefined }],
  ['Bearer nonsense', { refused: 'malformed key', keyId: undefined }],
  [`Bearer ${mintApiKey('0123456789').apiKey}`, { refused: 'unknown key', keyId: '0123456789' }],
  [`Bearer ${mintApiKey(keyId).apiKey}`, { refused: 'wrong secret', keyId }],
])('tells refusals apart by reason and key id: %#', async (authorization, expected) => {
  const [line] = await logOf(authorization, async () => ({ body: {} }));
  expect(line).toMatchObject({ status: 401, ...expected });
  expect(JSON.stringify(line)).not.toContain(authorization.split(' ')[1]);
});

it('keeps a failure’s line apart from its cause', async () => {
  const [line] = await logOf(`Bearer ${apiKey}`, async () => {
    throw new Error('a mistake');
  });
  expect(line).toMatchObject({ status: 500, keyId });
  expect(JSON.stringify(line)).not.toContain('a mistake');
});
