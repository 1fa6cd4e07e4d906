import { listOrders } from '../shared/contract/operations/listOrders.ts';
import { DEFAULT_LIMIT } from '../shared/contract/pageQuery.ts';
import { defineHandler } from '../shared/http/defineHandler.ts';
import { defineWarmUp } from '../shared/http/warmUp.ts';
import { readVariable } from '../shared/runtime/environment.ts';
import { openService } from '../shared/runtime/service.ts';
import { defineDocuments } from '../shared/store/documents.ts';
import { defineOrderStore } from '../shared/store/orderStore.ts';

const service = openService();
const orders = defineOrderStore(defineDocuments(service.client), readVariable('ORDERS_TABLE'));

/** GET /store/orders: a page of the orders, newest first. */
export const handler = defineHandler(
  listOrders,
  service,
  async ({ query: { limit = DEFAULT_LIMIT, cursor } }) => {
    const { items, next } = await orders.page({ limit, cursor });
    return { body: items, next };
  },
);

export const warmUp = defineWarmUp(listOrders, handler, { query: { limit: '1' } });
