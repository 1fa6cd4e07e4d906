import { beforeAll, beforeEach, expect, it } from 'vitest';
import { defineKeyRegister, type KeyRegister } from '../../../infra/cli/keyRegister.ts';
import { parseApiKey } from '../../../shared/keys/apiKey.ts';
import { firstEngine } from '../../support/engines.ts';
import { useStoreTables } from '../../support/storeTables.ts';

const START = Date.parse('2026-12-01T00:00:00Z');
const HOUR = 3_600_000;
const at = (hours: number) => new Date(START + hours * HOUR).toISOString();

const { client, endpoint } = useStoreTables(firstEngine.start);
let keys: KeyRegister;
let now: number;

beforeAll(() => {
  keys = defineKeyRegister(client(), 'apiKeys', () => now);
});
beforeEach(() => {
  now = START;
});

it('a new key is stored with the hash of its secret, with only the given fields, and replaces no other', async () => {
  const { apiKey, record } = await keys.create({ name: 'web', permission: 'read' });
  expect(endpoint().requests).toMatchObject([
    { action: 'PutItem', input: { ConditionExpression: 'attribute_not_exists(keyId)' } },
  ]);
  const { keyId, secret } = parseApiKey(apiKey) ?? {};
  expect(await keys.get(record.keyId)).toEqual({
    keyId,
    secretHash: expect.stringMatching(/^[\w-]{43}$/),
    name: 'web',
    permission: 'read',
    createdAt: at(0),
  });
  expect(JSON.stringify(await keys.get(record.keyId))).not.toContain(secret);
});

it('the list has every key, oldest first, over pages of any size, read consistently', async () => {
  const before = (await keys.list()).length;
  for (const hours of [50, 20, 40, 30]) {
    now = START + hours * HOUR;
    await keys.create({ name: `after ${hours}`, permission: 'read' });
  }
  await endpoint().heal();
  endpoint().pageSize = 2;
  const names = (await keys.list()).map(({ name }) => name);
  expect(names.slice(before)).toEqual([20, 30, 40, 50].map((hours) => `after ${hours}`));
  expect(endpoint().requests.length).toBeGreaterThan(2);
  for (const { input } of endpoint().requests) expect(input.ConsistentRead).toBe(true);
});

it('a rotated key gets a successor with its name, permission and lifetime, and ends after the grace', async () => {
  const expiresAt = new Date(START + 10 * HOUR);
  const { record: old } = await keys.create({ name: 'till', permission: 'write', expiresAt });
  expect(old).toMatchObject({ expiresAt: at(10) });
  now = START + 4 * HOUR;
  const { record } = await keys.succeed(old);
  const { keyId } = record;
  expect(record.originId).toBe(old.keyId);
  expect((await keys.succeed(record)).record.originId).toBe(old.keyId);
  expect(await keys.get(old.keyId)).toEqual(old);
  const retired = await keys.retire(old.keyId, keyId, 2 * HOUR);
  expect(retired).toEqual({ ends: at(6), before: old });
  const like = { name: 'till', permission: 'write', createdAt: at(4), expiresAt: at(14) };
  expect(await keys.get(keyId)).toMatchObject(like);
  const end = { revokedAt: at(6), rotatedAt: at(4), successorId: keyId };
  expect(await keys.get(old.keyId)).toEqual({ ...old, ...end });
});

it('a key without an end gets a successor without one, and rotation never postpones an end', async () => {
  const { record } = await keys.create({ name: 'till', permission: 'read' });
  const { record: successor } = await keys.succeed(record);
  expect(await keys.get(successor.keyId)).not.toHaveProperty('expiresAt');
  for (const [ended, ends] of [
    [undefined, 2],
    [1, 1],
    [3, 2],
  ] as const) {
    await keys.put({ ...record, ...(ended && { revokedAt: at(ended) }) });
    const retired = await keys.retire(record.keyId, successor.keyId, 2 * HOUR);
    expect(retired.ends).toBe(at(ends));
    expect(await keys.get(record.keyId)).toMatchObject({ revokedAt: at(ends) });
  }
});

it.each([undefined, -1, 0, 2])(
  'a revoked key ends now, or at its earlier end: %s',
  async (hours) => {
    const { record } = await keys.create({ name: 'lost', permission: 'read' });
    if (hours !== undefined) await keys.put({ ...record, revokedAt: at(hours) });
    now = START + HOUR;
    await keys.revoke(record.keyId);
    const revokedAt = at(Math.min(hours ?? 1, 1));
    expect(await keys.get(record.keyId)).toEqual({ ...record, revokedAt });
  },
);

it('revoking an unknown key fails and creates none', async () => {
  await expect(keys.revoke('0000000000')).rejects.toThrow();
  expect(await keys.get('0000000000')).toBeUndefined();
});
