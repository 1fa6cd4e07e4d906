import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { parseJson, toJson } from '../../../shared/contract/json.ts';
import { MAX_IDS } from '../../../shared/contract/operations/listInventory.ts';
import { responses } from '../../../shared/contract/operations.ts';
import type { InventoryItem } from '../../../shared/contract/schemas.ts';
import { expectError, expectSuccess } from '../expectations.ts';
import { send, type TargetSource } from '../target.ts';
import { type Entry, type OperationSuite, withoutKey } from './operationSuite.ts';

export const listInventory: OperationSuite = {
  toValidRequest: () => ({ method: 'GET', path: '/inventory' }),
  access: { inventory: ['dynamodb:Scan', 'dynamodb:GetItem', 'dynamodb:BatchGetItem'] },
  examples: {
    withTags: {
      summary: 'Two entries with their tags',
      path: '/inventory?petId=7,8&include=etag',
    },
    byId: { summary: 'Two entries by their ids', path: '/inventory?petId=7,8' },
    badLimit: { summary: 'A limit of 0', path: '/inventory?limit=0', code: 'invalid_request' },
    ...withoutKey({ path: '/inventory' }),
  },
  listRequests({ available: [id, ...others], listTag, cursors }) {
    const ids = [id, ...others].slice(0, MAX_IDS).join();
    const list = {
      path: '/inventory',
      milliseconds: 25,
      longMilliseconds: 700,
      longEntries: 100_000,
    } as const;
    return [
      { ...list, response: '200', request: 'all entries' },
      {
        ...list,
        response: '200 gzip',
        request: 'all entries, gzip',
        headers: { 'Accept-Encoding': 'gzip' },
        milliseconds: 30,
        longMilliseconds: 900,
      },
      {
        ...list,
        response: '200 etag',
        request: 'all entries, include=etag',
        path: '/inventory?include=etag',
      },
      {
        ...list,
        response: '304',
        request: 'all entries, unchanged',
        headers: { 'If-None-Match': listTag },
        longMilliseconds: 312,
        // A list with more entries than one page of a Scan has no tag.
        longEntries: 43_000,
      },
      {
        response: '200 petId',
        request: 'one id',
        path: `/inventory?petId=${id}`,
        milliseconds: 10,
      },
      {
        response: '200 petIds',
        request: `${MAX_IDS} ids, include=etag`,
        path: `/inventory?petId=${ids}&status=available&include=etag`,
        milliseconds: 11,
      },
      {
        response: '200 page',
        request: 'limit=1000, include=etag',
        path: `/inventory?limit=1000&cursor=${cursors.listInventory}&include=etag`,
        milliseconds: 25,
      },
    ];
  },
  callClient: async (client) => (await client.listInventory()).items,
  describeRows,
};

type TaggedEntry = Entry & { readonly etag: string };

const badPetIds = ['', 'abc', '1,', ',1', '1,,2', '1,%202', '01', '1.5', '9223372036854775808'];
const manyIds = Array.from({ length: 101 }, (_, petId) => petId);
/** Over 100 ids, and an invalid one, in both ways of writing several. */
const badQueries = [
  ...[...badPetIds, manyIds.join()].map((petIds) => `petId=${petIds}`),
  ...[manyIds.join('&petId='), `0&petId=${manyIds.slice(1).join()}`].map((ids) => `petId=${ids}`),
  ...['petId=1&petId=', 'petId=&petId=1', 'petId=1&petId=abc'],
];

function describeRows(target: TargetSource): void {
  const list = (query = '', headers: Record<string, string> = {}) =>
    send(target(), 'GET', `/inventory${query && '?'}${query}`, { headers });

  async function listTagged(query: string): Promise<TaggedEntry[]> {
    const response = await list(query);
    expectSuccess(response, 'listInventory');
    return response.json() as TaggedEntry[];
  }

  describe('listInventory', () => {
    test('returns 200 with every InventoryItem once and as it was loaded, digit for digit', async () => {
      const response = await list();
      expectSuccess(response, 'listInventory');
      expect(responses.listInventory.safeParse(response.json()).error).toBeUndefined();
      const listed = (response.json() as InventoryItem[]).map(toJson);
      expect(listed.sort()).toEqual(target().fixtures.inventory.map(toJson).sort());
    });

    test('needs no query and gives the whole list whatever unknown query it gets', async () => {
      const whole = await list();
      const response = await list('utm_source=mail&ids=1&maximum=1');
      expectSuccess(response, 'listInventory');
      expect(response.json()).toHaveLength((whole.json() as unknown[]).length);
    });
  });

  describe('listInventory compresses its list', () => {
    test.each([
      ['gzip', 'gzip'],
      ['br;q=1, gzip;q=0.5', 'gzip'],
      ['*', 'gzip'],
      ['zstd;q=0.8, gzip', 'gzip'],
      ['zstd', 'zstd'],
      ['gzip, deflate, br, zstd', 'zstd'],
      ['gzip;q=0.5, zstd;q=0.5', 'zstd'],
    ] as const)('for a client that accepts %s, by %s', async (value, coding) => {
      const plain = await list();
      const response = await list('', { 'Accept-Encoding': value });
      expectSuccess(response, 'listInventory');
      expect(response.headers.get('Content-Encoding')).toBe(coding);
      expect(response.headers.get('Vary')).toMatch(/\bAccept-Encoding\b/);
      expect(response.bytes.length).toBeLessThan(plain.bytes.length / 2);
      const decode = { gzip: gunzipSync, zstd: zstdDecompressSync }[coding];
      expect(decode(response.bytes).toString()).toBe(plain.text);
    });

    test.each(['identity', 'gzip;q=0', 'zstd;q=0', 'br', ''])(
      'for no client that sends %j',
      async (value) => {
        const response = await list('', { 'Accept-Encoding': value });
        expect(response.headers.get('Content-Encoding')).toBeNull();
        expect(response.headers.get('Vary')).toMatch(/\bAccept-Encoding\b/);
        expect(response.json()).not.toEqual([]);
      },
    );

    test('not when it is small', async () => {
      const response = await list('limit=1', { 'Accept-Encoding': 'gzip, zstd' });
      expect(response.headers.get('Content-Encoding')).toBeNull();
      expect(response.json()).toHaveLength(1);
    });
  });

  describe('listInventory of some ids', () => {
    test('returns their entries in that order, without those that do not exist', async () => {
      const { inventory, missingPetId } = target().fixtures;
      const expected = inventory.slice(0, 5).toReversed();
      const petIds = expected.map(({ petId }) => `${petId}`);
      const response = await list(`petId=${petIds.toSpliced(2, 0, `${missingPetId}`).join()}`);
      expectSuccess(response, 'listInventory');
      expect(response.json()).toEqual(expected.map((entry) => parseJson(toJson(entry))));
      for (const petId of petIds) expect(response.text).toContain(`"petId":${petId},`);
    });

    test('returns one entry, each but once, or none', async () => {
      const { inventory, missingPetId } = target().fixtures;
      const [first] = inventory;
      const once = [parseJson(toJson(first))];
      expect((await list(`petId=${first?.petId}`)).json()).toEqual(once);
      expect((await list(`petId=${first?.petId},${first?.petId}`)).json()).toEqual(once);
      expect((await list(`petId=${missingPetId}`)).json()).toEqual([]);
    });

    test('takes the parameter repeated as well as commas, in that order', async () => {
      const [one, two, three] = target().fixtures.inventory.map(({ petId }) => petId);
      const separated = await list(`petId=${three},${one},${two}`);
      expect(separated.json()).toHaveLength(3);
      for (const query of [
        `petId=${three}&petId=${one}&petId=${two}`,
        `petId=${three},${one}&utm_source=mail&petId=${two}`,
        `petId=${three}&petId=${one}&petId=${three},${two}`,
      ]) {
        expect((await list(query)).text, query).toBe(separated.text);
      }
    });

    test('can leave out those of another status', async () => {
      const { inventory } = target().fixtures;
      const petIds = inventory.slice(0, 6).map(({ petId }) => petId);
      const sold = inventory.slice(0, 6).filter(({ status }) => status === 'sold');
      const response = await list(`petId=${petIds.join()}&status=sold`);
      expect(response.json()).toEqual(sold.map((entry) => parseJson(toJson(entry))));
    });

    test.each(badQueries)('refuses %s', async (query) => {
      expectError(await list(query), 'invalid_request', 'listInventory');
    });

    test('takes a hundred, and a repeat of one', async () => {
      const petIds = Array.from({ length: 100 }, (_, index) => index - 50).join();
      expectSuccess(await list(`petId=${petIds},0`), 'listInventory');
    });
  });

  describe('listInventory with include=etag', () => {
    test('gives each entry its tag, as If-Match takes it, in every form of the list', async () => {
      const plain = (await list()).json() as object[];
      const whole = await listTagged('include=etag');
      expect(whole.map(({ etag: _, ...entry }) => entry)).toEqual(plain);
      for (const { etag } of whole) expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
      const tags = new Map(whole.map(({ petId, etag }) => [petId, etag]));
      const page = await listTagged('include=etag&limit=3');
      const { petId } = page[0] as TaggedEntry;
      for (const entry of [...page, ...(await listTagged(`include=etag&petId=${petId}`))]) {
        expect(entry.etag).toBe(tags.get(entry.petId));
      }
      expect(Object.keys(page[0] as TaggedEntry)).toEqual(['petId', 'quantity', 'status', 'etag']);
    });

    test.each(['ETag', 'etag,etag', 'all'])('refuses include=%j', async (value) => {
      expectError(await list(`include=${value}`), 'invalid_request', 'listInventory');
    });
  });
}
