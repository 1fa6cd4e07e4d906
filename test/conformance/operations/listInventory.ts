import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { responses } from '../../../shared/contract/operations.ts';
import { parseJson, toJson } from '../../../shared/contract/values.ts';
import { expectSuccess } from '../expectations.ts';
import { send, type TargetSource } from '../target.ts';
import { type OperationSuite, withoutKey } from './operationSuite.ts';

export const listInventory: OperationSuite = {
  toValidRequest: () => ({ method: 'GET', path: '/inventory' }),
  access: { inventory: ['dynamodb:Scan', 'dynamodb:GetItem', 'dynamodb:BatchGetItem'] },
  examples: {
    byId: { summary: 'Two entries by their ids', path: '/inventory?petId=7,8' },
    withTags: { summary: 'An entry with its tag', path: '/inventory?petId=7&include=etag' },
    badLimit: { summary: 'A limit of 0', path: '/inventory?limit=0', code: 'invalid_request' },
    ...withoutKey({ path: '/inventory' }),
  },
  callClient: async (client) => (await client.listInventory()).items,
  describeRows,
};

function describeRows(target: TargetSource): void {
  describe('listInventory', () => {
    test('answers 200 with a JSON array of InventoryItems', async () => {
      const response = await send(target(), 'GET', '/inventory');
      expectSuccess(response, 'listInventory');
      expect(responses.listInventory.safeParse(response.json()).error).toBeUndefined();
    });

    test('returns every entry exactly once and as it was loaded', async () => {
      const { inventory } = target().fixtures;
      const response = await send(target(), 'GET', '/inventory');
      const listed = response.json() as { petId: number | bigint }[];
      expect(new Set(listed.map(({ petId }) => petId)).size).toBe(listed.length);
      const byPetId = new Map(listed.map((entry) => [BigInt(entry.petId), entry]));
      for (const entry of inventory) {
        expect(byPetId.get(entry.petId)).toStrictEqual(parseJson(toJson(entry)));
      }
      expect(listed).toHaveLength(inventory.length);
    });

    test('writes each petId digit for digit', async () => {
      const { text } = await send(target(), 'GET', '/inventory');
      const written = new Set(Array.from(text.matchAll(/"petId":\s*([^,}\s]+)/g), ([, id]) => id));
      for (const { petId } of target().fixtures.inventory) expect(written).toContain(`${petId}`);
    });

    test('needs no query and gives the whole list whatever unknown query it gets', async () => {
      const whole = await send(target(), 'GET', '/inventory');
      const response = await send(target(), 'GET', '/inventory?utm_source=mail&petIds=1&Limit=1');
      expectSuccess(response, 'listInventory');
      expect(response.json()).toHaveLength((whole.json() as unknown[]).length);
    });

    test('gives a client that accepts gzip the same list', async () => {
      const plain = await send(target(), 'GET', '/inventory');
      const headers = { 'Accept-Encoding': 'gzip' };
      const response = await send(target(), 'GET', '/inventory', { headers });
      expectSuccess(response, 'listInventory');
      const compressed = response.headers.get('Content-Encoding') === 'gzip';
      const bytes = compressed ? gunzipSync(response.bytes) : response.bytes;
      expect(sorted(bytes.toString('utf8'))).toEqual(sorted(plain.text));
    });
  });
}

function sorted(text: string): string[] {
  return (parseJson(text) as unknown[]).map(toJson).sort();
}
