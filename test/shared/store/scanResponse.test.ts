import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toJson } from '../../../shared/contract/json.ts';
import { toInventoryItem, toTaggedItem } from '../../../shared/store/inventoryRecord.ts';
import { rewriteScanResponse } from '../../../shared/store/scanResponse.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

/** A page as a JSON parser reads it. */
function read(response: string, withTags: boolean): { items: string; remainder: unknown } {
  const { Items = [], ...rest } = JSON.parse(response);
  const items = Items.map(withTags ? toTaggedItem : toInventoryItem);
  return { items: toJson(items).slice(1, -1), remainder: { ...rest, Items: [] } };
}

/** Whether the page was rewritten and not left to the parser. A rewritten page must match the parser's result. */
function rewrite(response: string, withTags: boolean): boolean {
  const rewritten = rewriteScanResponse(Buffer.from(response), withTags);
  if (!rewritten) return false;
  const { items, remainder } = read(response, withTags);
  expect(String(rewritten.items), response).toBe(items);
  expect(JSON.parse(String(rewritten.remainder)), response).toEqual(remainder);
  return true;
}

const toNumber = (value: bigint | number) => ({ N: value.toString() });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const ours = fc.record(
  {
    p: int64.map(toNumber),
    q: fc.nat().map(toNumber),
    s: fc.constantFrom('a', 'p', 's').map((value) => ({ S: value })),
    v: fc
      .uint8Array({ minLength: 5, maxLength: 5 })
      .map((bytes) => ({ B: Buffer.from(bytes).toString('base64') })),
  },
  { requiredKeys: ['p', 'q', 's'] },
);
/** Unexpected attributes. */
const attribute = fc.oneof(
  fc.string({ unit: anyCharacter }).map((value) => ({ S: value })),
  fc.constantFrom({ N: '1.5' }, { N: '1E+30' }, { NULL: true }, { L: [{ N: '1' }] }, { M: {} }),
  fc.constantFrom({ S: '"Items":[' }, { S: '}]' }, { S: '\\"' }, { M: { Items: { L: [] } } }),
);
const nameLike = fc.constantFrom('Items', 'p ', '"p"');
const strange = fc
  .tuple(ours, fc.dictionary(fc.oneof(fc.string(), nameLike), attribute))
  .map(([record, others]) => ({ ...others, ...record }));
const inAnyOrder = <Value extends object>(records: fc.Arbitrary<Value>) =>
  records.chain((record) =>
    fc
      .shuffledSubarray(Object.entries(record), { minLength: Object.keys(record).length })
      .map((entries) => Object.fromEntries(entries)),
  );
const envelope = fc.record(
  {
    ConsumedCapacity: fc.constant({ CapacityUnits: 128.5, TableName: 'petstore-Inventory' }),
    Count: fc.nat(),
    LastEvaluatedKey: fc.record({ p: int64.map(toNumber) }),
    ScannedCount: fc.nat(),
  },
  { requiredKeys: ['Count'] },
);

function toResponse(records: readonly object[], rest: object, before: number, space?: string) {
  const members = Object.entries(rest);
  members.splice(before % (members.length + 1), 0, ['Items', records]);
  return JSON.stringify(Object.fromEntries(members), null, space);
}

describe('rewriteScanResponse', () => {
  it('rewrites every page of our records like a JSON parser, in any order of attributes', () => {
    const records = fc.array(inAnyOrder(ours), { maxLength: 30 });
    fc.assert(
      fc.property(records, envelope, fc.nat(), fc.boolean(), (items, rest, before, withTags) =>
        rewrite(toResponse(items, rest, before), withTags),
      ),
      { numRuns: 300 },
    );
  });

  it('leaves a page with any records to the parser, or agrees with it', () => {
    const records = fc.array(inAnyOrder(fc.oneof(ours, strange)), { maxLength: 8 });
    const space = fc.constantFrom(undefined, ' ', '\n');
    fc.assert(
      fc.property(records, envelope, fc.nat(), space, (items, rest, before, white) => {
        for (const withTags of [false, true])
          rewrite(toResponse(items, rest, before, white), withTags);
      }),
      { numRuns: 300 },
    );
  });

  const [p, q, status] = ['"p":{"N":"1"}', '"q":{"N":"1"}', '"s":{"S":"a"}'];

  it.each([0n, -1n, -(2n ** 63n), 2n ** 63n - 1n])('rewrites the id %s', (id) => {
    const response = `{"Items":[{"p":{"N":"${id}"},${q},${status}}]}`;
    expect(rewrite(response, false)).toBe(true);
  });

  it.each([
    ['an escape in a number', `{"p":{"N":"\\u0031"},${q},${status}}`],
    ['an unknown status', `{${p},${q},"s":{"S":"x"}}`],
    ['a missing attribute', `{${p},${status}}`],
    ['an id twice', `{${p},"p":{"N":"2"},${q},${status}}`],
    ['a quantity twice', `{${p},${q},"q":{"N":"2"},${status}}`],
    ['a version twice', `{${p},${q},${status},"v":{"B":"AQIDBAU="},"v":{"B":"AQIDBAU="}}`],
    ['an unknown attribute', `{${p},${q},${status},"x":{"N":"1"}}`],
    ['a number as a string', `{"p":{"S":"1"},${q},${status}}`],
    ['a zero before an id', `{"p":{"N":"01"},${q},${status}}`],
    ['a fraction', `{"p":{"N":"1.5"},${q},${status}}`],
    ['an id past int64', `{"p":{"N":"9223372036854775808"},${q},${status}}`],
    ['an id before int64', `{"p":{"N":"-9223372036854775809"},${q},${status}}`],
    ['an id of twenty digits', `{"p":{"N":"10000000000000000000"},${q},${status}}`],
    ['a quantity past the largest', `{${p},"q":{"N":"2147483648"},${status}}`],
    ['a quantity below zero', `{${p},"q":{"N":"-1"},${status}}`],
    ['white space', `{"p": {"N":"1"},${q},${status}}`],
    ['a version of another type', `{${p},${q},${status},"v":{"S":"1"}}`],
    ['bytes in the place of a number', `{"p":{"B":"AQIDBAU="},${q},${status}}`],
    ['an item that is no record', '1'],
  ])('leaves %s to the parser', (_, record) => {
    const page = (items: string) => Buffer.from(`{"Items":[${items}],"Count":1}`);
    for (const withTags of [false, true]) {
      expect(rewriteScanResponse(page(record), withTags)).toBeUndefined();
      expect(rewriteScanResponse(page(`{${p},${q},${status}}`), withTags)).toBeDefined();
    }
  });

  it('leaves a page truncated at any byte to the parser', () => {
    const record = '{"s":{"S":"a"},"p":{"N":"12"},"q":{"N":"3"}}';
    const response = `{"Count":2,"Items":[${record},${record}]}`;
    const end = response.lastIndexOf(']');
    for (let length = 0; length <= end; length++) {
      expect(rewriteScanResponse(Buffer.from(response.slice(0, length)), false)).toBeUndefined();
    }
    expect(rewriteScanResponse(Buffer.from(response), false)).toBeDefined();
  });

  it('leaves a page with any one byte changed to the parser, or agrees with it', () => {
    const first = '{"s":{"S":"a"},"p":{"N":"12"},"q":{"N":"3"}}';
    const second = '{"p":{"N":"-4"},"v":{"B":"AAAAAAE="},"q":{"N":"0"},"s":{"S":"p"}}';
    const third = '{"v":{"B":"AQIDBAU="},"p":{"N":"5"},"q":{"N":"7"},"s":{"S":"s"}}';
    const response = `{"Items":[${first},${second},${third}],"Count":3}`;
    let rewrittenOnes = 0;
    for (let at = 1; at < response.lastIndexOf(']') + 1; at += 1) {
      for (const other of ['', ...'"{}[]:,NSpqsv7-+/=B ']) {
        for (const kept of [0, 1]) {
          const changed = response.slice(0, at) + other + response.slice(at + 1 - kept);
          const rewritten = rewriteScanResponse(Buffer.from(changed), true);
          if (!rewritten) continue;
          rewrittenOnes += 1;
          // The SDK finds invalid JSON outside the records.
          if (isJson(changed)) rewrite(changed, true);
          else expect(isJson(String(rewritten.remainder)), changed).toBe(false);
        }
      }
    }
    expect(rewrittenOnes).toBeGreaterThan(20);
  });

  it('leaves a page without items to the parser, but rewrites one that starts with its items', () => {
    for (const response of ['', '{}', '{"Count":0}', '"Items":', '{"items":[]}', '"items":]']) {
      expect(rewriteScanResponse(Buffer.from(response), false), response).toBeUndefined();
    }
    expect(rewriteScanResponse(Buffer.from('"Items":[]'), false)?.items).toHaveLength(0);
  });
});

describe('rewriteScanResponse with tags', () => {
  const page = (quantity: string, version: string) =>
    `{"Items":[{"p":{"N":"1"},"q":{"N":"${quantity}"},"s":{"S":"a"}${version}}]}`;
  const toVersion = (base64: string) => `,"v":{"B":"${base64}"}`;

  it.each([
    ['a version of four bytes', page('1', toVersion('AQIDBA=='))],
    ['a version of six bytes', page('1', toVersion('AQIDBAUG'))],
    ['a version that does not end with its bytes', page('1', toVersion('AQIDBAV='))],
    ['padding within a version', page('1', toVersion('AQ=DBAU='))],
  ])('leaves %s to the parser', (_, response) => {
    expect(rewriteScanResponse(Buffer.from(response), true)).toBeUndefined();
    expect(rewriteScanResponse(Buffer.from(response), false)).toBeDefined();
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
