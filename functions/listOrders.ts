import { listOrders } from '../shared/contract/operations/listOrders.ts';
import { defineHandler } from '../shared/http/defineHandler.ts';
import { readVariable } from '../shared/runtime/environment.ts';
import { openService } from '../shared/runtime/service.ts';
import { defineOrderStore } from '../shared/store/orderStore.ts';

const service = openService();
const orders = defineOrderStore(service.documents, readVariable('ORDERS_TABLE'));

/** GET /store/orders: all orders, newest first. */
export const handler = defineHandler(listOrders, service, async () => ({
  body: await orders.list(),
}));
