import type { Call } from '../http/call.ts';
import type { PetstoreRequest } from '../http/exchange.ts';
import { send } from '../http/send.ts';
import { toNextCursor } from './pages.ts';
import type { OrderPage, OrderQuery } from './queries.ts';
import { toList, toOrder } from './readResources.ts';

export async function listOrders(
  call: Call,
  { limit, cursor }: OrderQuery = {},
): Promise<OrderPage> {
  const request: PetstoreRequest<'listOrders'> = {
    operationId: 'listOrders',
    query: { limit, cursor },
    isRepeatable: true,
    answersList: true,
  };
  return send(call, request, ({ document, headers }) => ({
    items: toList(document, toOrder),
    next: toNextCursor(headers),
  }));
}
