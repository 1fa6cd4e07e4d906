import type { Answer } from '../asking/expectation.ts';
import { Mismatch } from '../asking/failures.ts';
import { readPages } from '../lists/pages.ts';
import type { Row } from './row.ts';

interface Order {
  readonly id: number | bigint;
  readonly placedAt: string;
}

export const orderRows: readonly Row[] = [
  {
    name: 'answers a page of orders, newest first',
    async check(stage) {
      const { found } = stage;
      const answer = await stage.ask({ path: '/store/orders' }, 200);
      const orders = answer.json() as Order[];
      checkOrders(answer, orders);
      found.hasOrders = orders.length > 0;
    },
  },
  {
    name: 'goes on with the next page where the first ended',
    needs: ['order'],
    async check(stage) {
      const { elements, last } = await readPages<Order>(stage, '/store/orders', 1);
      checkOrders(last, elements);
    },
  },
  ...(['limit=0', 'cursor=smoke'].map((query) => ({
    name: `refuses ${query}`,
    check: async (stage) => {
      await stage.ask({ path: `/store/orders?${query}` }, 'invalid_request');
    },
  })) satisfies Row[]),
];

/** Each order once, and none before a newer one. */
function checkOrders(answer: Answer, orders: readonly Order[]): void {
  const ids = new Set<bigint>();
  for (const [index, { id, placedAt }] of orders.entries()) {
    const before = orders[index - 1]?.placedAt ?? placedAt;
    if (Date.parse(before) < Date.parse(placedAt)) {
      throw new Mismatch(answer, 'the newest first', `with ${placedAt} behind ${before}`);
    }
    if (ids.has(BigInt(id))) throw new Mismatch(answer, 'each order once', `with ${id} twice`);
    ids.add(BigInt(id));
  }
}
