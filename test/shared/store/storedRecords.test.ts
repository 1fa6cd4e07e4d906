import { readFileSync } from 'node:fs';
import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { toJson } from '../../../shared/contract/json.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { defineKeyStore } from '../../../shared/keys/keyStore.ts';
import { defineKeyVerifier } from '../../../shared/keys/keyVerifier.ts';
import { defineInventoryAdjustments } from '../../../shared/store/inventoryAdjustments.ts';
import { readInventoryEntry } from '../../../shared/store/inventoryEntry.ts';
import { defineInventoryList } from '../../../shared/store/inventoryList.ts';
import { toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { defineInventoryUpdates } from '../../../shared/store/inventoryUpdates.ts';
import { testEngine } from '../../support/engines.ts';
import { useStoreTables } from '../../support/storeTables.ts';

type Row = Record<string, AttributeValue>;
type Stored = { readonly by: string; readonly row: Row };

/**
 * Rows as each release wrote them. A new release adds its own, and never changes one: deployed tables have them. Rows of
 * updates last a day, and those of adjustments 30.
 */
const stored: Record<'inventory' | 'requests' | 'adjustments' | 'apiKeys', Stored[]> = JSON.parse(
  readFileSync(new URL('storedRecords.json', import.meta.url), 'utf8'),
  (key, value) => (key === 'B' ? Buffer.from(value, 'base64') : value),
);

/** Names and types of the last release's attributes. The release before the next one reads them after a rollback. */
const types = {
  inventory: { p: 'N', q: 'N', s: 'S', v: 'B' },
  adjusted: { p: 'N', r: 'S', d: 'S', v: 'B', w: 'N', t: 'N' },
  refused: { p: 'N', r: 'S', d: 'S', v: 'B', w: 'N', t: 'N', c: 'S', m: 'S', e: 'S' },
};

const entry = { petId: 7n, quantity: 25, status: 'available' } as const;
const B = (...bytes: number[]) => ({ B: Uint8Array.from(bytes) });

describe(`records that ${testEngine.name} stores`, () => {
  const { client, endpoint } = useStoreTables(testEngine.start);
  const list = () => defineInventoryList(client(), 'inventory');
  const updates = () => defineInventoryUpdates(client(), 'inventory');

  const adjustments = () => defineInventoryAdjustments(client(), 'inventory', 'requests');

  const put = (TableName: string, Item: Row) =>
    client().send(new PutItemCommand({ TableName, Item }));

  async function read(row: Row): Promise<Row> {
    const { p } = row as { p: AttributeValue };
    const get = new GetItemCommand({ TableName: 'inventory', Key: { p }, ConsistentRead: true });
    return (await client().send(get)).Item ?? {};
  }

  /** The only entry in all four ways, which must agree on its tag. */
  async function readTag(petId: bigint): Promise<string> {
    const [pages] = await Array.fromAsync(list().pages({ withTags: true }));
    const listed = (await list().page({ limit: 1_000, withTags: true })).items;
    const found = await list().find([petId], { withTags: true });
    const [{ etag = '', ...item } = {}] = found as { etag?: string }[];
    const alone = await readInventoryEntry(client(), 'inventory', petId);
    expect(alone).toEqual({ item, version: etag.slice(1, -1) });
    expect(listed).toEqual(found);
    expect(JSON.parse(`[${pages?.items}]`)).toMatchObject([{ etag }]);
    expect(etag).toMatch(/^"[\w.-]+"$/);
    return etag.slice(1, -1);
  }

  const toTypes = (row: Row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Object.keys(value)[0]]));

  /** Each test has one entry, and its own requests. */
  beforeEach(async () => {
    for (const TableName of ['inventory', 'requests']) {
      const { Items = [] } = await client().send(new ScanCommand({ TableName }));
      for (const { p = { N: '' }, r } of Items) {
        await client().send(new DeleteItemCommand({ TableName, Key: { p, ...(r && { r }) } }));
      }
    }
    await endpoint().heal();
  });

  const anyVersion = [{ N: '-1.5' }, { S: '' }, { S: 'é"\\' }, B(), B(0, 0, 0, 25, 0, 97)].map(
    (v) => ({ by: JSON.stringify(v), row: { ...toInventoryRecord(entry), v } }),
  );

  it.each([...stored.inventory, ...anyVersion])(
    'have a tag that an update takes once: $by',
    async ({ row }) => {
      const petId = BigInt(row.p?.N ?? '');
      await put('inventory', row);
      const versions = [await readTag(petId)];
      const first = await updates().setQuantity({ petId, quantity: 24, versions });
      expect(await readTag(petId)).toBe(first.version);
      const other = updates().setQuantity({ petId, quantity: 23, versions });
      await expect(other).rejects.toMatchObject({ version: first.version });
      const after = await read(row);
      expect(toTypes(after)).toEqual(types.inventory);
      expect(after).toMatchObject({ p: row.p, q: { N: '24' }, s: row.s });
    },
  );

  it.each([
    ['q', { N: '1.5' }],
    ['q', { N: '-1' }],
    ['q', { N: '0.99999999999999999999' }],
    ['q', { N: '2147483648' }],
    ['q', { S: '1' }],
    ['s', { S: 'x' }],
    ['s', { N: '1' }],
    ['v', { BOOL: true }],
    ['v', { S: 'x'.repeat(65) }],
    ['v', { N: '1'.repeat(39).replaceAll('1', '0').replace('0', '1') }],
  ])('fail by the name of an attribute that no release wrote: %s', async (name, value) => {
    const row = { ...toInventoryRecord(entry), [name]: value };
    await put('inventory', row);
    await endpoint().heal();
    const failure = {
      message: expect.stringMatching(
        `^The record of petId 7 is not valid: ${name} \\(\\w+\\) must be `,
      ),
    };
    const update = { petId: 7n, quantity: 24, versions: ['AAAAGQBh'] };
    for (const call of [
      () => Array.fromAsync(list().pages({ withTags: true })),
      () => list().page({ limit: 1, withTags: true }),
      () => list().find([7n], { withTags: true }),
      () => readInventoryEntry(client(), 'inventory', 7n),
      () => updates().setQuantity(update),
    ]) {
      await expect(call()).rejects.toMatchObject(failure);
    }
    expect(await read(row)).toEqual(row);
    const calls = endpoint()
      .calls.values()
      .reduce((sum, count) => sum + count, 0);
    expect(calls).toBeLessThanOrEqual(13);
  });

  it.each([
    [{ weight: { N: '4.5' }, born: { N: '1E+100' }, note: { NULL: true } }],
    [{ x: { NS: ['0.5'] }, y: { B: Uint8Array.of(255) }, z: { M: { q: { L: [{ N: '-0.5' }] } } } }],
  ] as Row[][])('may have attributes that no release wrote: %j', async (others) => {
    await put('inventory', { ...toInventoryRecord(entry), ...others });
    expect(await readTag(7n)).toBe('AAAAGQBh');
    const pages = await Array.fromAsync(list().pages());
    expect(pages.map(({ items }) => String(items))).toEqual([toJson(entry)]);
  });

  const cart = [
    { petId: 9n, delta: 2 },
    { petId: 7n, delta: -1 },
  ];

  it.each(stored.adjustments)('have their outcome: $by', async ({ by, row }) => {
    await put('requests', row);
    await put('inventory', toInventoryRecord(entry));
    await put('inventory', toInventoryRecord({ ...entry, petId: 9n }));
    const [key = ''] = /order-\d/.exec(by) ?? [];
    const outcome = await adjustments()
      .adjust(cart, `AAAAAAAAAA ${key}`)
      .catch((error) => error);
    expect(outcome).toMatchObject(
      row.c
        ? {
            name: 'AdjustmentRefused',
            code: row.c.S,
            message: row.m?.S,
            refused: row.e && [{ petId: 9n, code: 'not_found' }],
            isReplay: true,
          }
        : { items: [{ petId: 9n, quantity: 25 }, entry], isReplay: true },
    );
    const other = adjustments().adjust(cart.slice(1), `AAAAAAAAAA ${key}`);
    await expect(other).rejects.toMatchObject({ name: 'IdempotencyKeyReused' });
    expect(await read({ p: { N: '7' } })).toEqual(toInventoryRecord(entry));
  });

  it('have the attributes of adjustments and refusals', async () => {
    const row = { ...toInventoryRecord(entry), v: B(1, 2, 3, 4, 5) };
    await put('inventory', row);
    await adjustments().adjust(cart.slice(1), 'AAAAAAAAAA order-1');
    await expect(adjustments().adjust(cart, 'AAAAAAAAAA order-2')).rejects.toThrow('petId 9');
    expect(toTypes(await read(row))).toEqual(types.inventory);
    const { Items = [] } = await client().send(new ScanCommand({ TableName: 'requests' }));
    const found = new Map(Items.map((item) => [item.r?.S, toTypes(item)]));
    const [adjusted, refused] = stored.adjustments.map(({ row }) => row.r?.S);
    expect(found.get(adjusted)).toEqual(types.adjusted);
    expect(found.get(refused)).toEqual(types.refused);
  });

  it.each(stored.apiKeys)('are keys that still work: $by', async ({ row }) => {
    const { keyId, apiKey, secretHash } = mintApiKey(row.keyId?.S);
    await put('apiKeys', { ...row, secretHash: { S: secretHash } });
    const verifier = defineKeyVerifier(defineKeyStore(client(), 'apiKeys'));
    const originId = row.originId?.S ?? keyId;
    const key = { keyId, name: 'storefront', permission: 'write', originId };
    expect(await verifier.verify(apiKey)).toEqual(key);
  });
});
