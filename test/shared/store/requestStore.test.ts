import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { defineRequestStore, ended } from '../../../shared/store/requestStore.ts';
import { engines } from '../../support/engines.ts';
import { useStoreTables } from '../../support/storeTables.ts';

const START = Date.parse('2026-12-01T00:00:00Z');
const DAY = 86_400_000;
const item = { petId: 9007199254740993n, quantity: 24, status: 'pending' } as const;
const fingerprint = 'AQIDBAU.xxxxxxxxxxxxxxxxxxxx';

describe.each(engines)('answered requests on $name', ({ start }) => {
  const tables = useStoreTables(start);
  const at = (now: number) => defineRequestStore(tables.client(), 'requests', () => now);

  it('are found by the version that they gave, of their entry alone', async () => {
    await at(START).put({ fingerprint, item, replaced: 'AAAAGQBh' });
    const found = await at(START).find(item.petId, 'AQIDBAU');
    expect(found).toMatchObject({ fingerprint, item, replaced: 'AAAAGQBh' });
    for (const version of ['AQIDBA', 'AQIDBAV', '']) {
      expect(await at(START).find(item.petId, version)).toBeUndefined();
    }
    expect(await at(START).find(1n, 'AQIDBAU')).toBeUndefined();
  });

  it('need not know what they replaced', async () => {
    await at(START).put({ fingerprint: 'BQIDBAU.y', item });
    expect((await at(START).find(item.petId, 'BQIDBAU'))?.replaced).toBeUndefined();
  });

  it('are begun once, until an attempt is known to have had no effect', async () => {
    const begin = (now: number, seen?: number) =>
      at(now).begin(item.petId, 'CQIDBAU', 'CQIDBAU.x', seen);
    expect(await begin(START)).toBeUndefined();
    const known = await begin(START + 1);
    expect(known).toMatchObject({ fingerprint: 'CQIDBAU.x', item: undefined });
    expect(Math.floor(known?.attempt ?? 0)).toBe(START);
    expect(await begin(START + 2, START)).toBeDefined();
    expect(await begin(START + 2, known?.attempt)).toBeUndefined();
    await at(START).end(item.petId, 'CQIDBAU.x', 'unknown');
    expect((await begin(START + 3))?.attempt).toBe(ended.unknown);
    await at(START).end(item.petId, 'CQIDBAU.x', 'withoutEffect');
    expect(await begin(START + 4)).toBeUndefined();
    expect(await begin(START + 2_000 + DAY)).toBeUndefined();
  });

  it('are forgotten after 24 hours, whether the table has deleted them or not', async () => {
    await at(START).put({ fingerprint, item });
    expect(await at(START + DAY - 1).find(item.petId, 'AQIDBAU')).toBeDefined();
    expect(await at(START + DAY).find(item.petId, 'AQIDBAU')).toBeUndefined();
    const key = { p: { N: `${item.petId}` }, r: { S: fingerprint } };
    const read = new GetItemCommand({ TableName: 'requests', Key: key });
    const { Item } = await tables.client().send(read);
    expect(Item?.t).toEqual({ N: String((START + DAY) / 1_000) });
  });
});
