import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseStoreData, readStoreData } from '../../../infra/local/storeData.ts';

const entry = '{"petId": 1, "quantity": 2, "status": "sold"}';

describe('the text of a data file', () => {
  test('gives ids as they are written, and empty lists for missing ones', () => {
    const text = '{"inventory": [{"petId": 9007199254740993, "quantity": 0, "status": "pending"}]}';
    expect(parseStoreData(text)).toEqual({
      inventory: [{ petId: 9007199254740993n, quantity: 0, status: 'pending' }],
      pets: [],
      orders: [],
    });
  });

  test.each([
    ['[]', 'it must hold a JSON object'],
    ['{"inventroy": []}', '"inventroy" is none of "inventory", "pets" and "orders"'],
    ['{"pets": {}}', '"pets" must be a JSON array'],
    [`{"inventory": [${entry}, null]}`, 'inventory[1] must be a JSON object'],
    [
      `{"inventory": [${entry}, {"petId": 2, "quantity": -1, "status": "sold"}]}`,
      'inventory[1].quantity must be an integer from 0 to 2147483647',
    ],
    [
      '{"inventory": [{"petId": "1", "quantity": 1, "status": "sold"}]}',
      'inventory[0].petId must be an integer from',
    ],
    [`{"inventory": [${entry}, ${entry}]}`, 'inventory[1].petId must not repeat'],
    [
      '{"pets": [{"id": 1, "name": "Rex", "status": "sold", "tags": [{"id": 1, "name": 5}]}]}',
      'pets[0].tags[0].name must be a string',
    ],
    ['{"pets": [{"id": 1, "name": "Rex", "status": "sold", "tags": 5}]}', 'pets[0].tags must be'],
    ['{"orders": [{"id": 1, "petId": 1, "quantity": 1}]}', 'orders[0].status must be "placed"'],
  ])('%s is refused: %s', (text, message) => {
    expect(() => parseStoreData(text)).toThrow(message);
  });
});

describe('a data file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'petstore-data-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function write(content: string | Uint8Array): Promise<string> {
    const file = join(folder, 'data.json');
    await writeFile(file, content);
    return file;
  }

  test('may begin with a byte order mark', async () => {
    const { inventory } = await readStoreData(await write(`\uFEFF{"inventory": [${entry}]}`));
    expect(inventory).toHaveLength(1);
  });

  test.each<[string, string | Uint8Array, RegExp]>([
    ['holds no JSON', '{"inventory":\n [}', /^The data file .*data\.json .* is not JSON: [^\n]+$/],
    [
      'has a leading zero',
      '{"inventory":[{"petId":07}]}',
      /JSON: a number has a leading zero, Une/,
    ],
    ['is not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), /data\.json cannot be used: .*utf-8/i],
    ['has a wrong entry', '{"pets": [1]}', /data\.json cannot be used: pets\[0\] must be/],
  ])('that %s is refused in one line with its name', async (_, content, message) => {
    await expect(readStoreData(await write(content))).rejects.toThrow(message);
  });

  test('that does not exist is refused with its name', async () => {
    const file = join(folder, 'absent.json');
    await expect(readStoreData(file)).rejects.toThrow(/absent\.json cannot be used: ENOENT/);
  });

  test('of the sample holds ids past 2^53, every status, and an entry for each pet', async () => {
    const sample = new URL('../../../infra/local/sample.json', import.meta.url);
    const { inventory, pets, orders } = await readStoreData(sample);
    expect(inventory.map(({ petId }) => petId)).toEqual(pets.map(({ id }) => id));
    expect(pets).toHaveLength(50);
    expect(orders).toHaveLength(20);
    expect(pets.some(({ id }) => id > BigInt(Number.MAX_SAFE_INTEGER))).toBe(true);
    expect(new Set(inventory.map(({ status }) => status)).size).toBe(3);
    expect(new Set(orders.map(({ status }) => status)).size).toBe(3);
    expect(inventory.some(({ quantity }) => quantity === 0)).toBe(true);
    const petIds = new Set(pets.map(({ id }) => id));
    expect(orders.filter(({ petId }) => !petIds.has(petId))).toEqual([]);
  });
});
