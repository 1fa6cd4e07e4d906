import { listInventory } from '../shared/contract/operations/listInventory.ts';
import { defineStreamedHandler } from '../shared/http/defineStreamedHandler.ts';
import { readVariable } from '../shared/runtime/environment.ts';
import { openService } from '../shared/runtime/service.ts';
import { defineInventoryStore } from '../shared/store/inventoryStore.ts';

const service = openService();
const inventory = defineInventoryStore(service.client, readVariable('INVENTORY_TABLE'));

/** GET /inventory: all entries, however many, sent while they are read; or a page of them. */
export const handler = defineStreamedHandler(
  listInventory,
  service,
  async ({ query: { limit, cursor, status } }) => {
    if (limit === undefined && cursor === undefined) return { pages: inventory.pages(status) };
    const { items, next } = await inventory.page({ limit: limit ?? 100, cursor, status });
    return { body: items, next };
  },
);
