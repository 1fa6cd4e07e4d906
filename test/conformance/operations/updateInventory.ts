import { describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../../shared/contract/errorBody.ts';
import { parseJson, toJson } from '../../../shared/contract/json.ts';
import { responses } from '../../../shared/contract/operations.ts';
import { MAX_QUANTITY } from '../../../shared/contract/values.ts';
import { expectError, expectSuccess } from '../expectations.ts';
import { send, sendUpdate, type TargetSource } from '../target.ts';
import {
  changeableEntry,
  type ExampleRequest,
  type OperationSuite,
  readEntry,
  restoreEntryAfterEach,
  setQuantity,
  withoutKey,
} from './operationSuite.ts';
import { describeBodies } from './updateInventoryBodies.ts';

const update = {
  path: '/inventory/7',
  headers: { 'Content-Type': 'application/json' },
  body: { quantity: 8 },
};

const refuse = (summary: string, code: ErrorCode, changes: Partial<ExampleRequest>) => {
  return { ...update, summary, code, ...changes };
};

export const updateInventory: OperationSuite = {
  // Sets the entry's present quantity.
  toValidRequest: ({ fixtures }) => ({
    method: 'PATCH',
    path: `/inventory/${fixtures.changeablePetId}`,
    body: `{"quantity":${changeableEntry(fixtures).quantity}}`,
  }),
  access: {
    inventory: ['dynamodb:UpdateItem', 'dynamodb:GetItem'],
    // Release 2.0's calls, until 3.1.
    requests: ['dynamodb:PutItem', 'dynamodb:GetItem'],
  },
  examples: {
    counted: {
      ...update,
      summary: 'A stocktake found eight of nine',
      headers: { ...update.headers, 'If-Match': '"AAAACQBh"' },
    },
    badQuantity: refuse('A negative stock count', 'invalid_request', { body: { quantity: -1 } }),
    keyed: refuse('An Idempotency-Key, which no update takes', 'invalid_request', {
      headers: { ...update.headers, 'Idempotency-Key': 'stocktake-12' },
    }),
    ...withoutKey(update),
    readKey: refuse('A key that only allows reading', 'forbidden', { key: 'read' }),
    unknownId: refuse('An id that no entry has', 'not_found', { path: '/inventory/999999' }),
    changedSince: refuse('The entry has changed since', 'precondition_failed', {
      headers: { ...update.headers, 'If-Match': '"AAAAGQBh"' },
    }),
    notJson: refuse('A body with another Content-Type', 'unsupported_media_type', {
      headers: { 'Content-Type': 'text/plain' },
    }),
  },
  listRequests({ available: [id] }) {
    const { headers } = update;
    const one = {
      path: `/inventory/${id}`,
      headers,
      body: '{"quantity":500}',
      milliseconds: 10,
    };
    return [
      { ...one, response: '200', request: 'one id' },
      {
        ...one,
        response: '412',
        request: 'one id, If-Match of another state',
        headers: { ...headers, 'If-Match': '"AAAAGQBh"' },
        body: `{"quantity":${MAX_QUANTITY}}`,
        milliseconds: 15,
      },
      { ...one, response: '403', request: 'a read key', key: 'read', milliseconds: 2 },
    ];
  },
  callClient: (client, fixtures) => {
    const { petId, quantity } = changeableEntry(fixtures);
    return client.updateInventory(petId, { quantity });
  },
  describeRows(target) {
    describeRefusals(target);
    describeUpdates(target);
    describeBodies(target);
  },
};

function describeRefusals(target: TargetSource): void {
  describe('updateInventory refuses', () => {
    test('with the first of several reasons: key, permission, petId, media type, body, store', async () => {
      const { changeablePetId, missingPetId } = target().fixtures;
      const { readOnlyApiKey, apiKey } = target();
      const rows = [
        ['unauthorized', 'abc', null, 'text/plain'],
        ['unauthorized', 'abc', 'nonsense', 'text/plain'],
        ['forbidden', 'abc', readOnlyApiKey, 'text/plain'],
        ['forbidden', changeablePetId, readOnlyApiKey, 'application/json'],
        ['invalid_request', 'abc', apiKey, 'text/plain'],
        ['unsupported_media_type', missingPetId, apiKey, 'text/plain'],
        ['invalid_request', missingPetId, apiKey, 'application/json'],
      ] as const;
      for (const [code, petId, apiKey, type] of rows) {
        const body = petId === changeablePetId ? '{"quantity":5}' : '{';
        const refused = { apiKey, headers: { 'Content-Type': type }, body };
        const response = await send(target(), 'PATCH', `/inventory/${petId}`, refused);
        expectError(response, code, 'updateInventory');
      }
    });
  });
}

function describeUpdates(target: TargetSource): void {
  describe('updateInventory', () => {
    restoreEntryAfterEach(target);

    test('returns 200 with the updated InventoryItem, and reads show it', async () => {
      const { changeablePetId } = target().fixtures;
      const { status } = changeableEntry(target().fixtures);
      const updated = parseJson(toJson({ petId: changeablePetId, quantity: 41, status }));
      const response = await sendUpdate(target(), changeablePetId, '{"quantity":41}');
      expectSuccess(response, 'updateInventory');
      expect(responses.updateInventory.safeParse(response.json()).error).toBeUndefined();
      expect(response.json()).toStrictEqual(updated);
      expect(response.text).toContain(`${changeablePetId}`);
      expect(await readEntry(target(), changeablePetId)).toStrictEqual(updated);
      const list = await send(target(), 'GET', '/inventory');
      expect(list.json()).toContainEqual(updated);
    });

    test('leaves the status alone when stock reaches zero and when it returns', async () => {
      for (const { petId, quantity, status } of target().fixtures.inventory.slice(0, 8)) {
        for (const next of [0, 1, quantity]) {
          const response = await sendUpdate(target(), petId, `{"quantity":${next}}`);
          expectSuccess(response, 'updateInventory');
          expect(response.json()).toMatchObject({ quantity: next, status });
        }
      }
    });

    test('changes that entry alone', async () => {
      const before = await othersOf(target());
      await setQuantity(target(), 99);
      expect(await othersOf(target())).toEqual(before);
    });
  });
}

async function othersOf(target: ReturnType<TargetSource>): Promise<string[]> {
  const response = await send(target, 'GET', '/inventory');
  const entries = response.json() as { petId: number | bigint }[];
  const others = entries.filter(({ petId }) => BigInt(petId) !== target.fixtures.changeablePetId);
  return others.map(toJson).sort();
}
