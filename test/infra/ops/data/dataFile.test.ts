import { describe, expect, it } from 'vitest';
import type { ResourceName } from '../../../../infra/cli/bulk/resources.ts';
import { defineRoundedIds } from '../../../../infra/ops/data/checkFile.ts';
import { readRows } from '../../../../infra/ops/data/dataFile.ts';
import { defineFingerprints } from '../../../../infra/ops/data/fingerprints.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';

const data = openTemporaryFolder();

async function readAll(name: ResourceName, content: string | Buffer) {
  const file = data.write('file', content);
  const rows = (await Array.fromAsync(readRows({ name, file }))).flat();
  return rows.map(({ line, problem, entry }) => (entry ? entry.key : `${line}: ${problem}`));
}

it('a CSV file may have a byte order mark, CRLF, quotes, empty lines and no last line end', async () => {
  const content =
    '\uFEFFpetId,quantity,status\r\n1,2,sold\r\n\r\n"-9223372036854775808","3","sold"';
  const keys = ['petId 1', 'petId -9223372036854775808'];
  expect(await readAll('inventory', content)).toEqual(keys);
});

it('a JSON Lines file may have lines across the parts in which it is read, as long as DynamoDB takes them', async () => {
  const toLine = (_: unknown, id: number) =>
    `{"id":${id},"name":"${'猫'.repeat(id % 40)}","status":"sold"}`;
  const lines = Array.from({ length: 5_000 }, toLine);
  lines.push(JSON.stringify({ id: 5_000, name: 'x'.repeat(409_000), status: 'sold' }));
  const keys = lines.map((_, id) => `id ${id}`);
  expect(await readAll('pets', `${lines.join('\n')}\n`)).toEqual(keys);
});

it('a name may occur again in another object, and in a text', async () => {
  const named = '{"id":1,"name":"\\"id\\":2,{[","tags":[{"id":1,"name":"x"},{"id":1,"name":"id"}]';
  const line = `${named},"category":{"id":1,"name":"a"},"x":[[],{},[{"id":1},[{"id":2}]]],"status":"sold"}`;
  expect(await readAll('pets', line)).toEqual(['id 1']);
});

it.each([
  ['\uFEFF7,2,sold', 'petId must be an integer'],
  ['07,2,sold', '07"'],
  ['9223372036854775808,2,sold', 'petId must be an integer from -9223372036854775808 to'],
  ['1,2147483648,sold', 'quantity must be an integer from 0 to 2147483647, and is 2147483648'],
  ['1,2,Sold', 'status must be "available", "pending" or "sold", and is "Sold"'],
  ['1,2', 'must have 3 fields'],
  ['1,2,"sold', 'status must be "available", "pending" or "sold", and is "\\"sold"'],
  ['1,-1,lost', '; status must be'],
  ['{"id":0.99999999999999999999,"name":"a","status":"sold"}', '807, and is a fraction'],
  ['{"id":-1e400,"name":"a","status":"sold"}', '807, and is too large'],
  [
    '{"id":1,"name":"a","status":"sold","photoUrls":["javascript:alert(1)"]}',
    'photoUrls.0 must be an http or https URL, and is "javascript:alert(1)"',
  ],
  ['{"id":22,"name":"a","status":"sold","\\u0069d":22}', 'id is given twice'],
  [
    '{"id":1,"name":"a","status":"sold","x":[{"a":1},{"b":{"a" : 1, "a" : 2}}]}',
    'x.1.b.a is given',
  ],
  ['{"id":1,"name":"a","status":"sold","tags":[{"id":1,"name":"{","name":"b"}]}', 'tags.0.name is'],
  ['{"id":1,"name":"a","status":"sold","__proto__":1,"__proto__":{}}', '__proto__ is given twice'],
  ['null', 'must be of type object, and is null'],
  ['{"id":1', 'in JSON at position 7'],
])('the row %s is refused', async (line, problem) => {
  const isPet = /^[{n]/.test(line);
  const [told] = isPet
    ? (await readAll('pets', `{"id":3,"name":"a","status":"sold"}\n${line}`)).slice(1)
    : await readAll('inventory', `petId,quantity,status\n${line}\n`);
  expect(told).toMatch(/^2: /);
  expect(told).toContain(problem);
});

it('no row of a file is read that is not text in UTF-8', async () => {
  const reading = readAll('pets', Buffer.from([0x7b, 0xff, 0x0a]));
  await expect(reading).rejects.toThrow('file cannot be read: The encoded data was not valid');
});

it.each([
  ['pets', '[{"id":1},'],
  ['pets', '\n  [\n'],
  ['inventory', 'petId,quantity,status\r1,2,sold\r'],
] as const)(
  'a file of %s that begins with %j is refused before it is read to its end',
  async (name, begin) => {
    // Its last byte is no text.
    const content = Buffer.concat([Buffer.from(begin.padEnd(100_000)), Buffer.from([0xff])]);
    await expect(readAll(name, content)).rejects.toThrow(/must be JSON Lines|ends in CR alone/);
  },
);

it('the time of a file grows with its size, whatever the length of its lines', {
  timeout: 10_000,
}, async () => {
  // If each part were added to the line and split again, it would take half a minute.
  const [told] = await readAll('inventory', `petId,quantity,status\n${' '.repeat(24_000_000)}1`);
  expect(told).toBe('2: must have 3 fields');
});

function countRounded(ids: readonly bigint[]): number {
  const rounded = defineRoundedIds();
  for (const id of ids) rounded.look(id);
  return rounded.count();
}

describe('an id looks rounded', () => {
  it.each([
    ...[9223372036854770000n, 9223372036854776000n, -9223372036854776000n, 1234567890123460000n],
    ...[12345678901234600n, 900719925474099300n],
  ])('%d', (id) => expect(countRounded([id])).toBe(1));

  it.each([
    ...[9223372036854775807n, 9223372036854775800n, 9007199254740990n, 1000000n, 0n],
    ...[-9223372036854775808n, 12345678901234567n],
  ])('but not %d', (id) => expect(countRounded([id])).toBe(0));

  it('if more of them do than do by chance', () => {
    const spread = (count: number, begin: bigint) =>
      Array.from({ length: count }, (_, n) => begin + BigInt(n) * 7_777_777_777_777n);
    for (const begin of [9_100_000_000_000_001n, 1_234_567_890_123_456_789n]) {
      const ids = spread(20_000, begin);
      expect(countRounded(ids)).toBe(0);
      const inSpreadsheet = ids.map((id) =>
        BigInt(
          Number(id)
            .toPrecision(15)
            .replace(/e.*/, '')
            .replace('.', '')
            .padEnd(id.toString().length, '0'),
        ),
      );
      expect(countRounded(inSpreadsheet)).toBeGreaterThan(19_000);
      expect(countRounded([9223372036854770000n, ...ids.slice(0, 2)])).toBe(1);
    }
  });
});

it('fingerprints find what was added, and what twice', () => {
  const fingerprints = defineFingerprints();
  for (let n = 0; n < 5_000; n += 1) fingerprints.add(`petId ${n}`);
  fingerprints.add('petId 7');
  fingerprints.add('petId 4999');
  fingerprints.sort();
  expect(fingerprints.repeated().size).toBe(2);
  expect(['petId 0', 'petId 7', 'petId 4999'].every(fingerprints.has)).toBe(true);
  expect(['petId 5000', 'petId -1', ''].some(fingerprints.has)).toBe(false);
});
