import { describe, expect, test } from 'vitest';
import { responses } from '../../../shared/contract/operations.ts';
import type { Order } from '../../../shared/contract/schemas.ts';
import { parseJson, toJson } from '../../../shared/contract/values.ts';
import { expectSuccess } from '../expectations.ts';
import { send, type TargetSource } from '../target.ts';
import { type OperationSuite, withoutKey } from './operationSuite.ts';

export const listOrders: OperationSuite = {
  toValidRequest: () => ({ method: 'GET', path: '/store/orders' }),
  access: { orders: ['dynamodb:Query'] },
  examples: {
    newest: { summary: 'The two newest orders', path: '/store/orders?limit=2' },
    badCursor: {
      summary: 'An invalid cursor',
      path: '/store/orders?cursor=abc',
      code: 'invalid_request',
    },
    ...withoutKey({ path: '/store/orders' }),
  },
  callClient: async (client) => (await client.listOrders()).items,
  describeRows,
};

function describeRows(target: TargetSource): void {
  describe('listOrders', () => {
    test('answers 200 with a JSON array of Orders, each exactly once and as it was loaded', async () => {
      const { orders } = target().fixtures;
      const response = await send(target(), 'GET', '/store/orders');
      expectSuccess(response, 'listOrders');
      expect(responses.listOrders.safeParse(response.json()).error).toBeUndefined();
      const listed = (response.json() as Order[]).map(withInstants);
      const byId = new Map(listed.map((order) => [BigInt(order.id), order]));
      expect(byId.size).toBe(listed.length);
      for (const order of orders) {
        expect(byId.get(order.id)).toStrictEqual(withInstants(parseJson(toJson(order)) as Order));
      }
      expect(listed).toHaveLength(orders.length);
    });

    test('has the newest order first, by instant and not by text', async () => {
      const response = await send(target(), 'GET', '/store/orders');
      const instants = (response.json() as Order[]).map(({ placedAt }) => Date.parse(placedAt));
      expect(instants).toEqual(instants.toSorted((a, b) => b - a));
    });

    test('writes each id digit for digit', async () => {
      const { text } = await send(target(), 'GET', '/store/orders');
      const written = new Set(Array.from(text.matchAll(/"id":\s*([^,}\s]+)/g), ([, id]) => id));
      for (const { id } of target().fixtures.orders) expect(written).toContain(`${id}`);
    });
  });
}

/** Compares instants, since one instant has many valid spellings. */
function withInstants({ placedAt, shipDate, ...order }: Order) {
  return {
    ...order,
    placedAt: Date.parse(placedAt),
    shipDate: shipDate === undefined ? undefined : Date.parse(shipDate),
  };
}
