import { updateInventory } from '../shared/contract/operations/updateInventory.ts';
import { UNUSED_ID } from '../shared/contract/values.ts';
import { defineHandler } from '../shared/http/defineHandler.ts';
import { defineWarmUp } from '../shared/http/warmUp.ts';
import { readVariable } from '../shared/runtime/environment.ts';
import { openService } from '../shared/runtime/service.ts';
import { defineInventoryUpdates } from '../shared/store/inventoryUpdates.ts';

const service = openService({ cacheMiddleware: true });
const inventory = defineInventoryUpdates(service.client, readVariable('INVENTORY_TABLE'));

/** PATCH /inventory/{petId}: sets an entry's stock count, never its status. It creates nothing. */
export const handler = defineHandler(
  updateInventory,
  service,
  async ({ parameters: { petId }, body: { quantity }, ifMatch }) => {
    const { item, version } = await inventory.setQuantity({ petId, quantity, versions: ifMatch });
    return { body: item, version };
  },
);

/** `If-None-Match: *` is false for every entry, so no entry changes. */
export const warmUp = defineWarmUp(updateInventory, handler, {
  pathParameters: { petId: UNUSED_ID },
  headers: { 'If-None-Match': '*' },
});
