import type { Call } from './call.ts';
import { eachPage, PAGE_LIMIT, type Page, toNextCursor } from './pages.ts';
import { type Order, toList, toOrder } from './resources.ts';
import { send } from './send.ts';
import type { CallOptions } from './settings.ts';

export interface OrderQuery {
  /** The most orders that the page may have: 1 to 1,000, 100 by default. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly cursor?: string | undefined;
}

export type OrderPage = Page<Order>;

/** The methods that the orders have. */
export interface OrderMethods {
  /** A page of the orders, newest first. */
  listOrders(query?: OrderQuery, options?: CallOptions): Promise<OrderPage>;

  /** All orders, newest first, page by page: of 1,000 where the query has no `limit`. */
  orderPages(query?: OrderQuery, options?: CallOptions): AsyncGenerator<OrderPage, void, undefined>;
}

export function defineOrderMethods(start: (options?: CallOptions) => Call): OrderMethods {
  const methods: OrderMethods = {
    async listOrders({ limit, cursor } = {}, options) {
      return send(
        start(options),
        {
          operationId: 'listOrders',
          method: 'GET',
          path: '/store/orders',
          query: { limit, cursor },
          isRepeatable: true,
          answersList: true,
        },
        ({ document, headers }) => ({
          items: toList(document, toOrder),
          next: toNextCursor(headers),
        }),
      );
    },

    orderPages: ({ limit = PAGE_LIMIT, cursor: first } = {}, options) =>
      eachPage(first, (cursor) => methods.listOrders({ limit, cursor }, options)),
  };
  return methods;
}
