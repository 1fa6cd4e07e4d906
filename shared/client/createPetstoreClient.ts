import type { OperationId } from '../contract/operations.ts';
import { startCall } from './http/call.ts';
import type { CallOptions, ClientOptions } from './http/options.ts';
import { parseOptions } from './http/settings.ts';
import { getPet } from './operations/getPet.ts';
import { listInventory } from './operations/listInventory.ts';
import { listOrders } from './operations/listOrders.ts';
import { eachPage, PAGE_LIMIT } from './operations/pages.ts';
import { streamInventory } from './operations/streamInventory.ts';
import { updateInventory } from './operations/updateInventory.ts';
import { updateStock } from './operations/updateStock.ts';
import type { PetstoreClient } from './petstoreClient.ts';

/** It does not compile while it lacks an operation of the contract. */
type CompleteClient = PetstoreClient & Readonly<Record<OperationId, unknown>>;

/**
 * A client of one deployment with one API key.
 * @throws {TypeError} when an option makes no sense; the message never has the key
 */
export function createPetstoreClient(options: ClientOptions): PetstoreClient {
  const settings = parseOptions(options);
  const start = (options?: CallOptions) => startCall(settings, options);

  const client: CompleteClient = {
    // Without `ifNoneMatch` there is always a list, which its overloads say.
    listInventory: (async (query = {}, options) =>
      listInventory(start(options), query)) as PetstoreClient['listInventory'],

    inventoryPages: (query = {}, options) =>
      eachPage(query.cursor, (cursor) =>
        client.listInventory({ ...query, limit: query.limit ?? PAGE_LIMIT, cursor }, options),
      ),

    streamInventory: (query = {}, options) => streamInventory(() => start(options), query),

    updateInventory: async (petId, update, { ifMatch, idempotencyKey, ...options } = {}) =>
      updateInventory(start(options), petId, update, { ifMatch, idempotencyKey }),

    updateStock: async (petId, change, options) => updateStock(start(options), petId, change),

    getPet: async (petId, options) => getPet(start(options), petId),

    listOrders: async (query, options) => listOrders(start(options), query),

    orderPages: (query = {}, options) =>
      eachPage(query.cursor, (cursor) =>
        client.listOrders({ limit: query.limit ?? PAGE_LIMIT, cursor }, options),
      ),
  };
  return client;
}
