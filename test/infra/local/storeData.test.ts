import { expect, test } from 'vitest';
import { readStoreData } from '../../../infra/local/storeData.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';

const entry = '{"petId": 1, "quantity": 2, "status": "sold"}';
const pet = '{"id": 1, "name": "Rex", "status": "sold"}';
const placedAt = '2026-12-24T09:59:00Z';
const order = JSON.stringify({ id: 1, petId: 1, quantity: 1, status: 'placed', placedAt });
const later = order.replace('09:59:00', '09:59:00.001');

const folder = openTemporaryFolder();
const read = async (content: string | Uint8Array) =>
  readStoreData(folder.write('data.json', content));

test('a data file keeps ids exactly, may lack lists, and may start with a byte order mark', async () => {
  const text =
    '\uFEFF{"inventory": [{"petId": 9007199254740993, "quantity": 0, "status": "pending"}]}';
  expect(await read(text)).toEqual({
    inventory: [{ petId: 9007199254740993n, quantity: 0, status: 'pending' }],
    pets: [],
    orders: [],
  });
});

test('a data file may write an integer with a point or an exponent', async () => {
  const text = '{"inventory": [{"petId": 9007199254740993.0, "quantity": 2e1, "status": "sold"}]}';
  const { inventory } = await read(text);
  expect(inventory).toEqual([{ petId: 9007199254740993n, quantity: 20, status: 'sold' }]);
});

test.each<[string | Uint8Array, string]>([
  ['{"inventory":\n [}', 'is not valid JSON'],
  [Uint8Array.of(0x22, 0xff, 0x22), 'utf-8'],
  ['[]', 'must have only "inventory", "pets" and "orders", and is []'],
  ['{"inventroy": []}', 'must have only "inventory", "pets" and "orders"'],
  [`{"pets": [${pet}], "orders": [], "pets": []}`, 'pets is given twice'],
  [`{"pets": [${pet}, ${pet.replace('{', '{"id": 2, ')}]}`, 'pets.1.id is given twice'],
  [
    '{"inventory": [{"petId": 9007199254740992.5, "quantity": 1, "status": "sold"}]}',
    'inventory.0.petId must be an integer from -9223372036854775808 to 9223372036854775807, and is a fraction',
  ],
  [
    `{"orders": [${order.replace('"quantity":1', '"quantity":4.9999999999999999999')}]}`,
    'orders.0.quantity must be an integer from 1 to 2147483647, and is a fraction',
  ],
  [`{"inventory": [${entry}, ${entry}]}`, 'inventory has the petId 1 twice'],
  [
    `{"orders": [${order}, ${later}, ${order.replace('09:59:00Z', '10:59:00.0+01:00')}]}`,
    'orders has the id 1 at 2026-12-24T09:59:00.000Z twice',
  ],
  ['{"orders": [{"id": 1, "petId": 1, "quantity": 1}]}', 'orders.0.status is missing; orders'],
])('a data file with %j is refused in one line with its name', async (content, reason) => {
  const refusal = expect(read(content)).rejects;
  await refusal.toThrow(/^The data file .*data\.json cannot be used: [^\n]+$/);
  await refusal.toThrow(reason);
});

test('the sample has ids above 2^53, every status, and an entry for each pet', async () => {
  const sample = new URL('../../../infra/local/sample.json', import.meta.url);
  const { inventory, pets, orders } = await readStoreData(sample);
  expect(inventory.map(({ petId }) => petId)).toEqual(pets.map(({ id }) => id));
  expect([pets.length, orders.length]).toEqual([50, 20]);
  expect(pets.some(({ id }) => id > BigInt(Number.MAX_SAFE_INTEGER))).toBe(true);
  for (const list of [inventory, orders]) {
    expect(new Set(list.map(({ status }) => status)).size).toBe(3);
  }
});
