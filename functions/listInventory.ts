import { listInventory } from '../shared/contract/operations/listInventory.ts';
import { defineHandler } from '../shared/http/defineHandler.ts';
import { readVariable } from '../shared/runtime/environment.ts';
import { openService } from '../shared/runtime/service.ts';
import { defineInventoryStore } from '../shared/store/inventoryStore.ts';

const service = openService();
const inventory = defineInventoryStore(service.client, readVariable('INVENTORY_TABLE'));

/** GET /inventory: all entries, however many, sent while they are read. */
export const handler = defineHandler(listInventory, service, async () => ({
  pages: inventory.pages(),
}));
