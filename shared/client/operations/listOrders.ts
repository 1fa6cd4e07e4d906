import type { Call } from '../http/call.ts';
import { send } from '../http/send.ts';
import { type Page, toNextCursor } from './pages.ts';
import { toList, toOrder } from './readResources.ts';
import type { Order } from './resources.ts';

export interface OrderQuery {
  /** The most orders that the page may have: 1 to 1,000, 100 by default. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly cursor?: string | undefined;
}

export type OrderPage = Page<Order>;

export async function listOrders(
  call: Call,
  { limit, cursor }: OrderQuery = {},
): Promise<OrderPage> {
  const request = {
    operationId: 'listOrders',
    query: { limit, cursor },
    isRepeatable: true,
    answersList: true,
  } as const;
  return send(call, request, ({ document, headers }) => ({
    items: toList(document, toOrder),
    next: toNextCursor(headers),
  }));
}
