import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseApiKey } from '../../../shared/keys/apiKey.ts';
import { defineKeyRegister, type KeyRegister } from '../../../shared/keys/keyRegister.ts';
import type { KeyRecord } from '../../../shared/keys/keyStore.ts';
import { firstEngine } from '../../support/engines.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { useStoreTables } from '../../support/storeTables.ts';

const START = Date.parse('2026-12-01T00:00:00Z');
const HOUR = 3_600_000;
const at = (milliseconds: number) => new Date(START + milliseconds).toISOString();

const tables = useStoreTables(firstEngine.start);
let endpoint: FaultyEndpoint;
let client: DynamoDBClient;
let keys: KeyRegister;
let now: number;

beforeAll(async () => {
  endpoint = await startFaultyEndpoint(tables.engine().endpoint);
  client = new DynamoDBClient({ endpoint: endpoint.endpoint });
  keys = defineKeyRegister(client, 'apiKeys', () => now);
});

beforeEach(() => {
  now = START;
  endpoint.heal();
});

afterAll(async () => {
  client.destroy();
  await endpoint.close();
});

async function read({ keyId }: Pick<KeyRecord, 'keyId'>): Promise<KeyRecord | undefined> {
  return keys.get(keyId);
}

describe('a key that is created', () => {
  it('is kept by the hash of its secret, with nothing that it was not given, in nobody’s place', async () => {
    const { apiKey, record } = await keys.create({ name: 'web', permission: 'read' });
    expect(endpoint.requests).toMatchObject([
      { action: 'PutItem', input: { ConditionExpression: 'attribute_not_exists(keyId)' } },
    ]);
    const { keyId, secret } = parseApiKey(apiKey) ?? {};
    expect(await read(record)).toEqual({
      keyId,
      secretHash: expect.stringMatching(/^[\w-]{43}$/),
      name: 'web',
      permission: 'read',
      createdAt: at(0),
    });
    expect(JSON.stringify(await read(record))).not.toContain(secret);
  });

  it('has an end where one is given', async () => {
    const expiresAt = new Date(START + HOUR);
    const { record } = await keys.create({ name: 'web', permission: 'write', expiresAt });
    expect(await read(record)).toMatchObject({ permission: 'write', expiresAt: at(HOUR) });
  });
});

describe('the list of keys', () => {
  it('has every one, oldest first, over pages of any size, as it is at this moment', async () => {
    const before = (await keys.list()).length;
    for (const hours of [50, 20, 40, 30]) {
      now = START + hours * HOUR;
      await keys.create({ name: `after ${hours}`, permission: 'read' });
    }
    endpoint.heal();
    endpoint.pageSize = 2;
    const listed = await keys.list();
    expect(listed).toHaveLength(before + 4);
    expect(listed.slice(-4).map(({ name }) => name)).toEqual(
      [20, 30, 40, 50].map((hours) => `after ${hours}`),
    );
    expect(endpoint.requests.length).toBeGreaterThan(2);
    for (const { input } of endpoint.requests)
      expect(input).toMatchObject({ ConsistentRead: true });
  });
});

describe('a key that is rotated', () => {
  it('has a successor with its name, permission and lifetime, and ends after the grace', async () => {
    const expiresAt = new Date(START + 10 * HOUR);
    const old = await keys.create({ name: 'till', permission: 'write', expiresAt });
    now = START + 4 * HOUR;
    const { record } = await keys.succeed(old.record);
    expect(await read(old.record)).toEqual(old.record);
    expect(await keys.retire(old.record.keyId, record.keyId, 2 * HOUR)).toEqual({
      ends: at(6 * HOUR),
      before: old.record,
    });
    expect(await read(record)).toMatchObject({
      name: 'till',
      permission: 'write',
      createdAt: at(4 * HOUR),
      expiresAt: at(14 * HOUR),
    });
    expect(await read(old.record)).toEqual({
      ...old.record,
      revokedAt: at(6 * HOUR),
      rotatedAt: at(4 * HOUR),
      successorId: record.keyId,
    });
  });

  it('has one without an end where it has none itself, and ends no later than it would have anyway', async () => {
    const { record } = await keys.create({ name: 'till', permission: 'read' });
    const { record: successor } = await keys.succeed(record);
    expect(await read(successor)).not.toHaveProperty('expiresAt');
    for (const [ended, ends] of [
      [undefined, 2],
      [1, 1],
      [3, 2],
    ] as const) {
      await keys.put({ ...record, ...(ended && { revokedAt: at(ended * HOUR) }) });
      const retired = await keys.retire(record.keyId, successor.keyId, 2 * HOUR);
      expect(retired.ends).toBe(at(ends * HOUR));
      expect(await read(record)).toMatchObject({ revokedAt: at(ends * HOUR) });
    }
  });
});

describe('a key that is revoked', () => {
  it.each([undefined, -1, 0, 2])(
    'ends now, or sooner where it would have anyway: %s',
    async (hours) => {
      const { record } = await keys.create({ name: 'lost', permission: 'read' });
      if (hours !== undefined) await keys.put({ ...record, revokedAt: at(hours * HOUR) });
      now = START + HOUR;
      await keys.revoke(record.keyId);
      const revokedAt = at(Math.min(hours ?? 1, 1) * HOUR);
      expect(await read(record)).toEqual({ ...record, revokedAt });
    },
  );

  it('must be there: revoking makes none', async () => {
    await expect(keys.revoke('0000000000')).rejects.toThrow();
    expect(await keys.get('0000000000')).toBeUndefined();
  });
});
