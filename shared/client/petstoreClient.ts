import type { OperationId } from '../contract/operations.ts';
import { send } from './call.ts';
import { defineInventoryMethods, type InventoryMethods, type StartCall } from './inventory.ts';
import {
  eachPage,
  type Order,
  PAGE_LIMIT,
  type Page,
  type Pet,
  readNextCursor,
  toList,
  toOrder,
  toPet,
  toPetIdText,
} from './resources.ts';
import {
  type CallOptions,
  type ClientOptions,
  parseOptions,
  refuseUnknown,
  startCall,
} from './settings.ts';

/**
 * Calls the service. A method rejects with a `PetstoreError`, with the reason of your `AbortSignal`, with the error that
 * your `apiKey`, `onResponse` or `onDeprecation` function throws, or with a `TypeError` for a mistake in your program.
 * Reads are retried after 408, 429, 5xx, a lost connection, a timeout or a truncated response.
 */
export interface PetstoreClient extends InventoryMethods {
  /** @deprecated The client warns once, with the sunset date and a link to the guide. */
  getPet(petId: bigint, options?: CallOptions): Promise<Pet>;

  /** A page of the orders, newest first. */
  listOrders(query?: OrderQuery, options?: CallOptions): Promise<OrderPage>;

  /** All orders, newest first, page by page. Without a `limit`, a page has up to 1,000. */
  orderPages(query?: OrderQuery, options?: CallOptions): AsyncGenerator<OrderPage, void, undefined>;

  /** All orders, newest first, one by one. Without a `limit`, it reads pages of 1,000. */
  orders(query?: OrderQuery, options?: CallOptions): AsyncGenerator<Order, void, undefined>;
}

export interface OrderQuery {
  /** Maximum orders in the page: 1 to 1,000, 100 by default. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. */
  readonly cursor?: string | undefined;
}

export type OrderPage = Page<Order>;

/** Compiles only if the client has every operation of the contract. */
type CompleteClient = PetstoreClient & Readonly<Record<OperationId, unknown>>;

/**
 * Creates a client for one deployment with one API key.
 * @throws {TypeError} if an option is invalid; the message never contains the key
 */
export function createPetstoreClient(options: ClientOptions): PetstoreClient {
  const settings = parseOptions(options);
  const start: StartCall = (options, names) => startCall(settings, options, names);
  const client: CompleteClient = {
    ...defineInventoryMethods(start),

    async getPet(petId, options) {
      const path = `/pets/${toPetIdText(petId)}` as const;
      return send(start(options), { operationId: 'getPet', method: 'GET', path }, ({ document }) =>
        toPet(document),
      );
    },

    async listOrders(query = {}, options) {
      refuseUnknown(query, ['limit', 'cursor']);
      const { limit, cursor } = query;
      return send(
        start(options),
        {
          operationId: 'listOrders',
          method: 'GET',
          path: '/store/orders',
          query: { limit, cursor },
          isList: true,
        },
        ({ document, headers }) => ({
          items: toList(document, toOrder),
          next: readNextCursor(headers),
        }),
      );
    },

    orderPages: (query = {}, options) =>
      eachPage(query.cursor, (cursor) =>
        client.listOrders({ ...query, limit: query.limit ?? PAGE_LIMIT, cursor }, options),
      ),

    async *orders(query, options) {
      for await (const { items } of client.orderPages(query, options)) yield* items;
    },
  };
  return client;
}
