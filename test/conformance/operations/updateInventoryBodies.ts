import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { expectError, expectSuccess, expectTooLarge } from '../expectations.ts';
import { type ConformanceTarget, send, sendUpdate, type TargetSource } from '../target.ts';
import { readEntry, restoreEntryAfterEach, setQuantity } from './operationSuite.ts';

const jsonTypes = [
  ...['application/json', 'application/json; charset=utf-8', 'application/json;charset=UTF-8'],
  ...['application/json ; charset=utf-8', 'Application/JSON', 'application/merge-patch+json'],
];

const otherTypes = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'application/jsonp'],
  ...['text/json-ish', 'json', ''],
];

/** The values of bodies, which every deployment reads by the same code. */
export function describeBodyValues(target: TargetSource): void {
  const petId = () => target().fixtures.changeablePetId;
  const entryNow = () => readEntry(target(), petId());
  const update = (body: string | Uint8Array) => sendUpdate(target(), petId(), body);

  describe('updateInventory reads the values of the body', () => {
    restoreEntryAfterEach(target);

    test.each([
      ...hostileTexts.map((text) => [JSON.stringify(text), text] as const),
      ...Object.entries(hostileBodies),
    ])('returns 400 for %s and leaves the entry as it was', async (_, body) => {
      const before = await entryNow();
      expectError(await update(body), 'invalid_request', 'updateInventory');
      expect(await entryNow()).toStrictEqual(before);
    });

    test.each([
      [
        'of 4 MB that has 7 MB as text in JSON',
        `{"quantity":5,"x":[${'"",'.repeat(1.3 * megabyte)}1]}`,
      ],
      ['of 11 MB', `{"quantity":5,"x":"${'x'.repeat(11 * 1024 * 1024)}"}`],
    ])('returns 413 for a body %s and leaves the entry as it was', (_, body) =>
      refuseTooLarge(target(), body),
    );

    test.each(Object.entries(validQuantities))('takes the quantity %s', async (text, quantity) => {
      const response = await update(`{"quantity":${text}}`);
      expectSuccess(response, 'updateInventory');
      expect(response.json()).toMatchObject({ quantity });
      expect(await entryNow()).toMatchObject({ quantity });
    });

    test.each(Object.entries(harmlessBodies))(
      'takes the quantity beside %s, and nothing else',
      async (_, body) => {
        await setQuantity(target(), 1);
        const expected = { ...(await entryNow()), quantity: 5 };
        const response = await update(body);
        expectSuccess(response, 'updateInventory');
        expect(response.json()).toStrictEqual(expected);
        expect(await entryNow()).toStrictEqual(expected);
        expect({}).not.toHaveProperty('polluted');
      },
    );
  });
}

async function refuseTooLarge(target: ConformanceTarget, body: string): Promise<void> {
  const { changeablePetId } = target.fixtures;
  const before = await readEntry(target, changeablePetId);
  expectTooLarge(await sendUpdate(target, changeablePetId, body), Buffer.byteLength(body));
  expect(await readEntry(target, changeablePetId)).toStrictEqual(before);
}

export function describeBodies(target: TargetSource): void {
  const petId = () => target().fixtures.changeablePetId;
  const entryNow = () => readEntry(target(), petId());
  const update = (body: string | Uint8Array) => sendUpdate(target(), petId(), body);
  const updateAs = (headers: Record<string, string>) =>
    send(target(), 'PATCH', `/inventory/${petId()}`, { headers, body: '{"quantity":8}' });
  const refuseType = async (headers: Record<string, string>) =>
    expectError(await updateAs(headers), 'unsupported_media_type', 'updateInventory');

  describe('updateInventory reads the body', () => {
    restoreEntryAfterEach(target);

    test('returns 413 for a body of 7 MB and leaves the entry as it was', () =>
      refuseTooLarge(target(), `{"quantity":5,"x":"${'x'.repeat(7 * 1024 * 1024)}"}`));

    test('survives deep nesting in a member that it ignores', async () => {
      const depth = 100_000;
      const { status } = await update(
        `{"quantity":3,"x":${'['.repeat(depth)}${']'.repeat(depth)}}`,
      );
      expect([200, 400]).toContain(status);
    });

    test.each(jsonTypes)('takes Content-Type: %s', async (type) => {
      expectSuccess(await updateAs({ 'Content-Type': type }), 'updateInventory');
    });

    test.each(['content-type', 'CONTENT-TYPE', 'cOnTeNt-tYpE'])(
      'finds the header written as %s',
      async (name) => {
        expectSuccess(await updateAs({ [name]: 'application/json' }), 'updateInventory');
        await refuseType({ [name]: 'text/plain' });
      },
    );

    test.each(otherTypes)('returns 415 for Content-Type: "%s"', async (type) => {
      await setQuantity(target(), 12);
      await refuseType({ 'Content-Type': type });
      expect(await entryNow()).toMatchObject({ quantity: 12 });
    });

    test('returns 415 without a Content-Type', () => refuseType({}));

    const encoded = {
      gzip: gzipSync,
      deflate: deflateSync,
      br: brotliCompressSync,
      'gzip, identity': gzipSync,
    };
    test.each(Object.entries(encoded))(
      'returns 415 for a body in %s, and says why',
      async (coding, encode) => {
        const before = await entryNow();
        const response = await sendUpdate(target(), petId(), encode('{"quantity":8}'), {
          'Content-Encoding': coding,
        });
        expectError(response, 'unsupported_media_type', 'updateInventory');
        expect(response.text).toContain('without the header \\"Content-Encoding\\"');
        expect(await entryNow()).toStrictEqual(before);
      },
    );

    test.each(['identity', 'Identity', ' identity , identity', ''])(
      'takes Content-Encoding: "%s"',
      async (coding) => {
        const headers = { 'Content-Type': 'application/json', 'Content-Encoding': coding };
        expectSuccess(await updateAs(headers), 'updateInventory');
      },
    );
  });
}

const megabyte = 1_000_000;

/** Bodies of an update that are not JSON, lack a quantity or hold an invalid one. */
export const hostileTexts = [
  ...['', ' \n', 'null', '[{"quantity":5}]', '"quantity"', '5', '{}', '{"Quantity":5}'],
  ...['{"quantity": "5"}', '{"quantity":true}', '{"quantity":null}', '{"quantity":[5]}'],
  ...['{"quantity":{"$numberInt":"5"}}', '{"__proto__":{"quantity":5}}'],
  '{"constructor":{"prototype":{"quantity":5}}}',
  // Past int32, what a double holds exactly, int64 and a double.
  ...['{"quantity": 2147483648}', '{"quantity": 9007199254740993}'],
  ...['{"quantity": 18446744073709551621}', '{"quantity": 1e400}'],
  ...['{"quantity": -1}', '{"quantity": 5.5}', '{"quantity": 5e-1}'],
  // A double rounds each of these to an integer in range.
  ...['{"quantity": 0.99999999999999999999}', '{"quantity":1e-400}', '{"quantity":-1E-400}'],
  ...['{"quantity": 4.9999999999999999999}', '{"quantity":999999999.99999999}'],
  ...['{"quantity": 5.00000000000000000001e0}', `{"quantity":0.${'0'.repeat(400)}1}`],
  ...['{"quantity": "n5.0"}', '{"quantity":"n12345678901234567890","x":1.5}'],
  ...['{"quantity":05}', '{"quantity":+5}', '{"quantity":NaN}', '{"quantity":5', '{"quantity":5,}'],
  ...['{"quantity":5}{"quantity":6}', '{"quantity":5} // five', '{"quantity":5}\0', 'quantity=5'],
];

/** The same of bodies that are no text, or long. */
const hostileBodies: Record<string, string | Uint8Array> = {
  'invalid UTF-8': Buffer.from([...Buffer.from('{"quantity":'), 0xff, 0xfe, 0x35, 0x7d]),
  'invalid UTF-8 in a member that is ignored': Buffer.from('{"quantity":5,"x":"\xe9"}', 'latin1'),
  'UTF-16': Buffer.from('{"quantity":5}', 'utf16le'),
  'a megabyte of opening brackets': '['.repeat(megabyte),
  'a megabyte of balanced brackets': '['.repeat(megabyte / 2) + ']'.repeat(megabyte / 2),
  'a megabyte of opening objects': '{"a":'.repeat(megabyte / 5),
  'a quantity of a megabyte of digits': `{"quantity":${'9'.repeat(megabyte)}}`,
};

/** Bodies with other members, which are ignored by any name; each sets the quantity to 5. */
export const harmlessBodies: Record<string, string> = {
  'other members': '{"petId":1,"status":"lost","quantity":5,"s":"x","price":{"eur":1}}',
  'a member within a member': '{"quantity":5,"a":{"quantity":6}}',
  'a __proto__': '{"quantity":5,"__proto__":{"quantity":6,"polluted":true}}',
  'a __proto__ within a member': '{"quantity":5,"a":[{"__proto__":{"polluted":true}}]}',
  'a constructor and its prototype': '{"quantity":5,"constructor":{"prototype":{"polluted":true}}}',
  'a constructor within a member': '{"quantity":5,"a":{"constructor":{"prototype":1}}}',
  'numbers that a double does not hold': '{"x":[1e-400,1e400,19.99,9007199254740993],"quantity":5}',
  'an earlier one, as JSON.parse does': '{"quantity":6,"quantity":5}',
  'strings that look like numbers': '{"s":"s","n":"n5.0","quantity":5,"x":"12345678901234567"}',
};

/** Integers in [0, 2^31 - 1], written in several ways, with their values. */
const validQuantities: Record<string, number> = {
  '0': 0,
  '-0': 0,
  '1': 1,
  '2147483647': 2_147_483_647,
  '5.0': 5,
  '5e0': 5,
  '50E-1': 5,
  '2.147483647e9': 2_147_483_647,
  '5.00000000000000000000': 5,
  '500000000000000000000000e-23': 5,
  '0.00000000000000000005e20': 5,
  '0e-999999999999': 0,
};
