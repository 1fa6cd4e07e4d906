import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readStoreData } from '../../../infra/local/storeData.ts';

const entry = '{"petId": 1, "quantity": 2, "status": "sold"}';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-data-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(content: string | Uint8Array) {
  const file = join(folder, 'data.json');
  await writeFile(file, content);
  return readStoreData(file);
}

test('a data file has ids as they are written, may lack lists, and may begin with a byte order mark', async () => {
  const text =
    '\uFEFF{"inventory": [{"petId": 9007199254740993, "quantity": 0, "status": "pending"}]}';
  expect(await read(text)).toEqual({
    inventory: [{ petId: 9007199254740993n, quantity: 0, status: 'pending' }],
    pets: [],
    orders: [],
  });
});

test.each<[string | Uint8Array, string]>([
  ['{"inventory":\n [}', 'it is not JSON: '],
  ['{"inventory":[{"petId":07}]}', 'it is not JSON: Unexpected number'],
  [Uint8Array.of(0x22, 0xff, 0x22), 'utf-8'],
  ['[]', 'it must hold a JSON object'],
  ['null', 'it must hold a JSON object'],
  ['{"inventroy": []}', '"inventroy" is none of "inventory", "pets" and "orders"'],
  ['{"pets": {}}', '"pets" must be a JSON array'],
  [`{"inventory": [${entry}, null]}`, 'inventory[1]: must be'],
  [
    `{"inventory": [${entry}, {"petId": 2, "quantity": -1, "status": "sold"}]}`,
    'inventory[1]: quantity must be an integer from 0 to 2147483647, and is -1',
  ],
  [
    '{"inventory": [{"petId": "1", "quantity": 1, "status": "sold"}]}',
    'inventory[0]: petId must be an integer from',
  ],
  [
    `{"inventory": [${entry}, ${entry}]}`,
    'inventory[1].petId must not repeat that of inventory[0], 1',
  ],
  [
    '{"pets": [{"id": 1, "name": "Rex", "status": "sold", "tags": [{"id": 1, "name": 5}]}]}',
    'pets[0]: tags.0.name must be a string',
  ],
  ['{"orders": [{"id": 1, "petId": 1, "quantity": 1}]}', 'orders[0]: status is missing'],
])('a data file of %j is refused in one line with its name', async (content, reason) => {
  const refusal = expect(read(content)).rejects;
  await refusal.toThrow(/^The data file .*data\.json cannot be used: [^\n]+$/);
  await refusal.toThrow(reason);
});

test('a data file that does not exist is refused with its name', async () => {
  const file = join(folder, 'absent.json');
  await expect(readStoreData(file)).rejects.toThrow(/absent\.json cannot be used: ENOENT/);
});

test('the sample holds ids past 2^53, every status, and an entry for each pet', async () => {
  const sample = new URL('../../../infra/local/sample.json', import.meta.url);
  const { inventory, pets, orders } = await readStoreData(sample);
  expect(inventory.map(({ petId }) => petId)).toEqual(pets.map(({ id }) => id));
  expect([pets.length, orders.length]).toEqual([50, 20]);
  expect(pets.some(({ id }) => id > BigInt(Number.MAX_SAFE_INTEGER))).toBe(true);
  expect(new Set(inventory.map(({ status }) => status)).size).toBe(3);
  expect(new Set(orders.map(({ status }) => status)).size).toBe(3);
  expect(inventory.some(({ quantity }) => quantity === 0)).toBe(true);
  const petIds = new Set(pets.map(({ id }) => id));
  expect(orders.filter(({ petId }) => !petIds.has(petId))).toEqual([]);
});
