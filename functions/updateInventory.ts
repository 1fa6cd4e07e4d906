import { updateInventory } from '../shared/contract/operations/updateInventory.ts';
import { defineHandler } from '../shared/http/defineHandler.ts';
import { readVariable } from '../shared/runtime/environment.ts';
import { openService } from '../shared/runtime/service.ts';
import { defineInventoryStore } from '../shared/store/inventoryStore.ts';

const service = openService();
const inventory = defineInventoryStore(service.client, readVariable('INVENTORY_TABLE'));

/** PATCH /inventory/{petId}: sets an entry's stock count, never its status; creates nothing. */
export const handler = defineHandler(
  updateInventory,
  service,
  async ({ parameters: { petId }, body: { quantity }, ifMatch }) => {
    const { item, version } = await inventory.setQuantity(petId, quantity, ifMatch);
    return { body: item, version };
  },
);
