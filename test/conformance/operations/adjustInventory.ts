import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../../shared/contract/errorBody.ts';
import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../../../shared/contract/headers.ts';
import { toJson } from '../../../shared/contract/json.ts';
import { responses } from '../../../shared/contract/operations.ts';
import { MAX_ADJUSTMENTS, MAX_QUANTITY } from '../../../shared/contract/values.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { expectError, expectSuccess, expectTooLarge } from '../expectations.ts';
import {
  type ConformanceTarget,
  fixtures,
  send,
  sendUpdate,
  type TargetSource,
} from '../target.ts';
import {
  type ExampleRequest,
  type OperationSuite,
  readEntry,
  withoutKey,
} from './operationSuite.ts';

type Deltas = readonly (readonly [petId: bigint, delta: number])[];

const path = '/inventory/adjustments';
const json = { 'Content-Type': 'application/json' };

const sale = {
  path,
  headers: { ...json, 'Idempotency-Key': 'order-1234' },
  body: { adjustments: [{ petId: 7, delta: -1 }] },
};

const refuse = (summary: string, code: ErrorCode, changes: Partial<ExampleRequest>) => {
  return { ...sale, summary, code, ...changes };
};

const refuseUnder = (key: string, summary: string, code: ErrorCode, adjustments: object[]) =>
  refuse(summary, code, {
    headers: { ...json, 'Idempotency-Key': key },
    body: { adjustments },
  });

let pricedKeys = 0;

/** With a key of the greatest length, by default a new one. */
function priceAdjustment(petIds: readonly bigint[], delta: number, key = `${++pricedKeys}`) {
  return {
    path,
    headers: { ...json, 'Idempotency-Key': key.padStart(MAX_IDEMPOTENCY_KEY_LENGTH, 'k') },
    body: toBody(petIds.map((petId) => [petId, delta])),
    // A transaction, and then a read of the entries or a write of the refusal.
    milliseconds: 20,
  };
}

export const adjustInventory: OperationSuite = {
  toValidRequest: ({ fixtures }) => ({
    method: 'POST',
    path,
    headers: { 'Idempotency-Key': 'valid-request' },
    body: toBody([[fixtures.changeablePetId, 1]]),
  }),
  access: {
    inventory: ['dynamodb:UpdateItem', 'dynamodb:GetItem', 'dynamodb:BatchGetItem'],
    requests: ['dynamodb:PutItem'],
  },
  examples: {
    sold: { ...sale, summary: 'One unit was sold' },
    cart: {
      ...sale,
      summary: 'A cart of three pets was sold',
      headers: { ...json, 'Idempotency-Key': 'order-1235' },
      body: {
        adjustments: [
          { petId: 7, delta: -1 },
          { petId: 9, delta: -1 },
          { petId: 11, delta: -1 },
        ],
      },
    },
    returned: {
      ...sale,
      summary: 'One unit came back',
      headers: { ...json, 'Idempotency-Key': 'return-77' },
      body: { adjustments: [{ petId: 7, delta: 1 }] },
    },
    noDelta: refuse('A delta of 0', 'invalid_request', {
      body: { adjustments: [{ petId: 7, delta: 0 }] },
    }),
    ...withoutKey(sale),
    readKey: refuse('A key that only allows reading', 'forbidden', { key: 'read' }),
    unknownId: refuseUnder('order-1236', 'An id that no entry has', 'not_found', [
      { petId: 999999, delta: -1 },
    ]),
    notForSale: refuseUnder('order-1237', 'A pet that is pending', 'not_for_sale', [
      { petId: 8, delta: -1 },
    ]),
    soldOut: refuseUnder('order-1238', 'More units than there are', 'insufficient_stock', [
      { petId: 7, delta: -12 },
    ]),
    tooMany: refuseUnder('return-78', 'More units than a count holds', 'quantity_out_of_range', [
      { petId: 7, delta: 2_147_483_647 },
    ]),
    reusedKey: refuse('A key that another adjustment had', 'idempotency_key_reused', {
      body: { adjustments: [{ petId: 7, delta: -2 }] },
    }),
    notJson: refuse('A body with another Content-Type', 'unsupported_media_type', {
      headers: { 'Content-Type': 'text/plain' },
    }),
  },
  listRequests({ available, pending }) {
    const [one, cart] = [available.slice(0, 1), available.slice(0, MAX_ADJUSTMENTS)];
    return [
      { ...priceAdjustment(one, -1), response: '200', request: 'one pet' },
      { ...priceAdjustment(cart, -1), response: '200 cart', request: `${MAX_ADJUSTMENTS} pets` },
      {
        ...priceAdjustment(one, -1, 'replay'),
        response: '200 replay',
        request: 'one pet, again',
      },
      { ...priceAdjustment(one, -1_000), response: '409', request: 'one pet, sold out' },
      {
        ...priceAdjustment(pending.slice(0, MAX_ADJUSTMENTS), -MAX_QUANTITY),
        response: '409 cart',
        request: `${MAX_ADJUSTMENTS} pets, refused`,
      },
      {
        ...priceAdjustment(one, -1),
        response: '403',
        request: 'a read key',
        key: 'read',
        milliseconds: 2,
      },
    ];
  },
  callClient: (client, fixtures) =>
    client.adjustInventory([{ petId: fixtures.changeablePetId, delta: 1 }], {
      idempotencyKey: 'valid-request',
    }),
  describeRows(target) {
    describeRefusedRequests(target);
    describeAdjustments(target);
    describeOutcomes(target);
  },
};

function toBody(deltas: Deltas): string {
  return toJson({ adjustments: deltas.map(([petId, delta]) => ({ petId, delta })) });
}

function adjust(
  target: ConformanceTarget,
  body: Deltas | string,
  key: string | undefined = randomUUID(),
): Promise<ExactResponse> {
  const headers = { ...json, ...(key !== undefined && { 'Idempotency-Key': key }) };
  return send(target, 'POST', path, {
    headers,
    body: typeof body === 'string' ? body : toBody(body),
  });
}

/** Of the fixtures, with their quantities: available ones, others, and one with the largest quantity. */
const [one, two, three] = [
  [9223372036854775806n, 3],
  [3n, 4],
  [12n, 3],
] as const;
const full = -9223372036854775808n;
const pending = -9007199254740993n;
const sold = 2n;
const missing = 4611686018427387904n;

/** Ten entries with few units. */
const few = fixtures.inventory.filter(({ quantity }) => quantity < 5).slice(0, 10);

function describeRefusedRequests(target: TargetSource): void {
  const valid = toBody([[one[0], 1]]);

  describe('adjustInventory refuses', () => {
    test('with the first of several reasons: key, permission, media type, body, Idempotency-Key', async () => {
      const { readOnlyApiKey, apiKey } = target();
      const rows = [
        ['unauthorized', 'nonsense', 'text/plain', '{'],
        ['forbidden', readOnlyApiKey, 'text/plain', '{'],
        ['unsupported_media_type', apiKey, 'text/plain', '{'],
        ['invalid_request', apiKey, 'application/json', '{'],
        ['invalid_request', apiKey, 'application/json', valid],
      ] as const;
      for (const [code, apiKey, type, body] of rows) {
        const headers = { 'Content-Type': type };
        const response = await send(target(), 'POST', path, { apiKey, headers, body });
        expectError(response, code, 'adjustInventory');
      }
    });

    test.each([undefined, '', ' ', 'a b', 'a'.repeat(256), 'é'])(
      'the Idempotency-Key %j',
      async (key) => {
        const headers = { ...json, ...(key !== undefined && { 'Idempotency-Key': key }) };
        const response = await send(target(), 'POST', path, { headers, body: valid });
        expectError(response, 'invalid_request', 'adjustInventory');
        expect(response.text).toMatch(/"Idempotency-Key (?:is missing|must be)/);
      },
    );

    test.each(Object.entries(invalidBodies))('%s', async (body, message) => {
      const key = randomUUID().padEnd(MAX_IDEMPOTENCY_KEY_LENGTH, 'k');
      const response = await adjust(target(), body, key);
      expectError(response, 'invalid_request', 'adjustInventory');
      expect((response.json() as { message: string }).message).toContain(message);
      // It was no outcome: the key is still free.
      expectError(await adjust(target(), [[missing, 1]], key), 'not_found', 'adjustInventory');
    });

    test('a body of 7 MB', async () => {
      const body = `{"x":"${'x'.repeat(7 * 1024 * 1024)}"}`;
      expectTooLarge(await adjust(target(), body), body.length);
    });
  });
}

const many = Array.from({ length: 11 }, (_, index) => [BigInt(index), 1] as const);
const wrongDelta =
  'adjustments.0.delta must be an integer from -2147483647 to 2147483647, but not 0.';

/** Bodies, and a part of each message. */
const invalidBodies: Record<string, string> = {
  '': 'The body is empty; it must be a JSON object with a list of adjustments',
  '[]': 'The body must be a JSON object with a list of adjustments',
  '{}': 'adjustments is missing; it must be a list of 1 to 10 adjustments',
  '{"adjustments":{"petId":3,"delta":1}}': 'adjustments must be a list of 1 to 10',
  '{"adjustments":[]}': 'adjustments must be a list of 1 to 10 adjustments, each of another pet.',
  [toBody(many)]: 'adjustments must be a list of 1 to 10 adjustments, each of another pet.',
  '{"adjustments":[null]}': 'adjustments.0 must be an object, such as {"petId": 7, "delta": -1}.',
  '{"adjustments":[{"delta":1}]}': 'adjustments.0.petId is missing',
  '{"adjustments":[{"petId":"3","delta":1}]}': 'adjustments.0.petId must be an integer from -9223',
  '{"adjustments":[{"petId":9223372036854775808,"delta":1}]}': 'adjustments.0.petId must be',
  '{"adjustments":[{"petId":3.5,"delta":1}]}': 'adjustments.0.petId must be an integer',
  '{"adjustments":[{"petId":3}]}': 'adjustments.0.delta is missing',
  '{"adjustments":[{"petId":3,"delta":0}]}': wrongDelta,
  '{"adjustments":[{"petId":3,"delta":-0}]}': wrongDelta,
  '{"adjustments":[{"petId":3,"delta":"-1"}]}': wrongDelta,
  '{"adjustments":[{"petId":3,"delta":0.5}]}': wrongDelta,
  '{"adjustments":[{"petId":3,"delta":0.99999999999999999999}]}': wrongDelta,
  '{"adjustments":[{"petId":3,"delta":1e-400}]}': wrongDelta,
  '{"adjustments":[{"petId":3,"delta":-2147483648}]}': wrongDelta,
  '{"adjustments":[{"petId":3,"delta":2147483648}]}': wrongDelta,
  '{"adjustments":[{"petId":3,"delta":1},{"petId":3.0,"delta":2}]}':
    'adjustments has petId 3 twice: add its deltas.',
  '{"adjustments":[{"petId":3,"delta":1},{"petId":5,"delta":0}]}': 'adjustments.1.delta must be',
};

function describeAdjustments(target: TargetSource): void {
  describe('adjustInventory', () => {
    restoreAfterEach(target);

    test('sells a cart, and returns its entries in the order of the request', async () => {
      const response = await adjust(target(), [
        [two[0], -3],
        [one[0], -1],
        [three[0], -3],
      ]);
      expectSuccess(response, 'adjustInventory');
      expect(responses.adjustInventory.safeParse(response.json()).error).toBeUndefined();
      const entries = await Promise.all([two, one, three].map(([id]) => readEntry(target(), id)));
      expect(entries.map(({ quantity }) => quantity)).toEqual([1, 2, 0]);
      expect(response.json()).toStrictEqual({ entries });
      expect(response.text).toContain('9223372036854775806');
      expect(response.headers.get('ETag')).toBeNull();
      expect(response.headers.get('Idempotent-Replayed')).toBeNull();
    });

    test.each([one[0], pending, sold])(
      'takes units back whatever the status, which stays: %s',
      async (petId) => {
        const before = await readEntry(target(), petId);
        expectSuccess(await adjust(target(), [[petId, 5]]), 'adjustInventory');
        const { quantity, ...rest } = before;
        expect(await readEntry(target(), petId)).toStrictEqual({ ...rest, quantity: quantity + 5 });
      },
    );

    test('takes ten pets, the largest delta, and members that it ignores', async () => {
      const ten = few.map(({ petId }) => ({ petId, delta: 1, note: 'x' }));
      const response = await adjust(target(), toJson({ adjustments: ten, note: 1 }));
      expectSuccess(response, 'adjustInventory');
      const all = await adjust(target(), [[full, -2_147_483_647]]);
      expectSuccess(all, 'adjustInventory');
      expect(all.json()).toMatchObject({ entries: [{ quantity: 0 }] });
      expectSuccess(await adjust(target(), [[full, 2_147_483_647]]), 'adjustInventory');
    });

    test('gives each entry a new ETag, so that an update with the old one is 412', async () => {
      const [petId] = one;
      const before = await send(target(), 'GET', `/inventory/${petId}`);
      expectSuccess(await adjust(target(), [[petId, -1]]), 'adjustInventory');
      const update = await sendUpdate(target(), petId, '{"quantity":9}', {
        'If-Match': before.headers.get('ETag') ?? '',
      });
      expectError(update, 'precondition_failed', 'updateInventory');
    });

    test.each<[ErrorCode, Deltas, parts: string[], refused: string]>([
      [
        'not_found',
        [[missing, -1]],
        [`no inventory entry with petId ${missing}`],
        `{"petId":${missing},"code":"not_found"}`,
      ],
      [
        'not_found',
        [[missing, 1]],
        [`no inventory entry with petId ${missing}`],
        `{"petId":${missing},"code":"not_found"}`,
      ],
      [
        'not_for_sale',
        [[pending, -1]],
        [`petId ${pending} has status "pending" and quantity 1 (asked for: 1)`],
        `{"petId":${pending},"code":"not_for_sale","quantity":1,"status":"pending"}`,
      ],
      [
        'insufficient_stock',
        [[one[0], -4]],
        ['has quantity 3 (asked for: 4)'],
        `{"petId":${one[0]},"code":"insufficient_stock","quantity":3}`,
      ],
      [
        'quantity_out_of_range',
        [[full, 1]],
        ['has quantity 2147483647 (to add: 1)'],
        `{"petId":${full},"code":"quantity_out_of_range","quantity":2147483647}`,
      ],
      // The first reason of several, and all pets.
      [
        'insufficient_stock',
        [
          [full, 1],
          [two[0], -9],
          [one[0], -1],
        ],
        [`petId ${full} has`, 'petId 3 has quantity 4 (asked for: 9)'],
        `{"petId":${full},"code":"quantity_out_of_range","quantity":2147483647},{"petId":3,"code":"insufficient_stock","quantity":4}`,
      ],
      [
        'not_for_sale',
        [
          [two[0], -9],
          [sold, -1],
        ],
        ['petId 3 has quantity 4 (asked for: 9)', 'petId 2 has'],
        '{"petId":3,"code":"insufficient_stock","quantity":4},{"petId":2,"code":"not_for_sale","quantity":3,"status":"sold"}',
      ],
      [
        'not_found',
        [
          [sold, -1],
          [missing, -1],
        ],
        ['petId 2 has', `with petId ${missing}`],
        `{"petId":2,"code":"not_for_sale","quantity":3,"status":"sold"},{"petId":${missing},"code":"not_found"}`,
      ],
    ])(
      'returns %s, names its pets, and changes nothing: %s',
      async (code, deltas, parts, refused) => {
        const before = await send(target(), 'GET', '/inventory');
        const response = await adjust(target(), [...deltas, [three[0], -1]]);
        expectError(response, code, 'adjustInventory');
        const { message } = response.json() as { message: string };
        for (const part of parts) expect(message).toContain(part);
        expect(message).not.toContain(`petId ${three[0]} `);
        expect(response.text).toContain(`,"refused":[${refused}]}`);
        expect((await send(target(), 'GET', '/inventory')).text).toBe(before.text);
      },
    );
  });
}

function describeOutcomes(target: TargetSource): void {
  const quantityOf = async (petId: bigint) => (await readEntry(target(), petId)).quantity;

  describe('adjustInventory has one outcome for a key', () => {
    restoreAfterEach(target);

    test('a 200, for the same deltas in any order and spelling, with the entries as they are then', async () => {
      const key = randomUUID();
      const first = await adjust(
        target(),
        [
          [one[0], -1],
          [two[0], -2],
        ],
        key,
      );
      expectSuccess(first, 'adjustInventory');
      await sendUpdate(target(), two[0], '{"quantity":9}');
      const again = await adjust(
        target(),
        `{"adjustments":[{"delta":-2.0,"petId":3,"x":1},{"petId":${one[0]},"delta":-1e0}]}`,
        key,
      );
      expectSuccess(again, 'adjustInventory');
      expect(again.headers.get('Idempotent-Replayed')).toBe('true');
      expect(again.json()).toMatchObject({ entries: [{ quantity: 9 }, { quantity: 2 }] });
    });

    test.each([
      ['not_found', missing, -1],
      ['not_for_sale', pending, -1],
      ['insufficient_stock', one[0], -9],
    ] as const)('a %s, also once it could be sold', async (code, petId, delta) => {
      const key = randomUUID();
      const first = await adjust(target(), [[petId, delta]], key);
      expectError(first, code, 'adjustInventory');
      expect(first.headers.get('Idempotent-Replayed')).toBeNull();
      if (petId !== missing) await sendUpdate(target(), petId, '{"quantity":20}');
      const again = await adjust(target(), [[petId, delta]], key);
      expectError(again, code, 'adjustInventory');
      expect(again.headers.get('Idempotent-Replayed')).toBe('true');
      expect(again.text).toBe(first.text);
      if (petId !== missing) expect(await quantityOf(petId)).toBe(20);
    });

    test.each(['a sale', 'a refusal'])('other deltas are 422 after %s', async (what) => {
      const key = randomUUID();
      await adjust(target(), [[one[0], what === 'a sale' ? -1 : -9]], key);
      const others: Deltas[] = [
        [[one[0], -2]],
        [[two[0], -1]],
        [[missing, -1]],
        [
          [one[0], -1],
          [two[0], -1],
        ],
      ];
      for (const deltas of others) {
        const response = await adjust(target(), deltas, key);
        expectError(response, 'idempotency_key_reused', 'adjustInventory');
      }
      expect(await quantityOf(one[0])).toBe(what === 'a sale' ? 2 : 3);
      expect(await quantityOf(two[0])).toBe(4);
    });

    test('a refusal names its pets in the order of the first request, with exact ids', async () => {
      const key = randomUUID();
      const deltas: Deltas = [
        [one[0], -4],
        [full, 1],
      ];
      const first = await adjust(target(), deltas, key);
      expectError(first, 'insufficient_stock', 'adjustInventory');
      expect(first.text).toContain(`[{"petId":${one[0]},`);
      const again = await adjust(target(), deltas.toReversed(), key);
      expect(again.text).toBe(first.text);
    });

    test('of twenty at once, one has the effect', async () => {
      const key = randomUUID();
      const sends = Array.from({ length: 20 }, () => adjust(target(), [[one[0], -1]], key));
      const all = await Promise.all(sends);
      for (const response of all) expectSuccess(response, 'adjustInventory');
      const replays = all.filter(({ headers }) => headers.has('Idempotent-Replayed'));
      expect(replays).toHaveLength(19);
      expect(await quantityOf(one[0])).toBe(2);
    });
  });
}

/** Restores all entries that the rows change. */
function restoreAfterEach(target: TargetSource): void {
  afterEach(async () => {
    const changed = [
      one[0],
      two[0],
      three[0],
      full,
      pending,
      sold,
      ...few.map(({ petId }) => petId),
    ];
    for (const { petId, quantity } of target().fixtures.inventory) {
      if (changed.includes(petId)) {
        await sendUpdate(target(), petId, `{"quantity":${quantity}}`);
      }
    }
  });
}
