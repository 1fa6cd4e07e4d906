import { describe, expect, test } from 'vitest';
import { parseJson, toJson } from '../../../shared/contract/json.ts';
import { responses } from '../../../shared/contract/operations.ts';
import type { Order } from '../../../shared/contract/schemas.ts';
import { expectSuccess } from '../expectations.ts';
import { send, type TargetSource } from '../target.ts';
import { type OperationSuite, withoutKey } from './operationSuite.ts';

export const listOrders: OperationSuite = {
  toValidRequest: () => ({ method: 'GET', path: '/store/orders' }),
  access: { orders: ['dynamodb:Query'] },
  examples: {
    newest: { summary: 'The two newest orders', path: '/store/orders?limit=2' },
    badCursor: {
      summary: 'An invented cursor',
      path: '/store/orders?cursor=abc',
      code: 'invalid_request',
    },
    ...withoutKey({ path: '/store/orders' }),
  },
  listRequests: ({ cursors }) => [
    { response: '200', request: 'a page of 100', path: '/store/orders', milliseconds: 13 },
    { response: '200 one', request: 'limit=1', path: '/store/orders?limit=1', milliseconds: 10 },
    {
      response: '200 page',
      request: 'limit=1000',
      path: `/store/orders?limit=1000&cursor=${cursors.listOrders}`,
      // A whole processor takes 9 ms for a page of 173 KB. A function with 512 MB has 29 % of one.
      milliseconds: 44,
    },
  ],
  callClient: async (client) => (await client.listOrders()).items,
  describeRows,
};

function describeRows(target: TargetSource): void {
  describe('listOrders', () => {
    test('returns 200 with every Order once and as it was loaded, digit for digit, newest first', async () => {
      const response = await send(target(), 'GET', '/store/orders');
      expectSuccess(response, 'listOrders');
      expect(responses.listOrders.safeParse(response.json()).error).toBeUndefined();
      const listed = (response.json() as Order[]).map(withInstants);
      const loaded = target().fixtures.orders.map((order) => parseJson(toJson(order)) as Order);
      expect(listed).toEqual(expect.arrayContaining(loaded.map(withInstants)));
      expect(listed).toHaveLength(loaded.length);
      // By instant and not by text.
      expect(listed).toEqual(listed.toSorted((one, other) => other.placedAt - one.placedAt));
    });
  });
}

function withInstants({ placedAt, shipDate, ...order }: Order) {
  return {
    ...order,
    placedAt: Date.parse(placedAt),
    shipDate: shipDate === undefined ? undefined : Date.parse(shipDate),
  };
}
