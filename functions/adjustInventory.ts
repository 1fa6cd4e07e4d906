import { adjustInventory } from '../shared/contract/operations/adjustInventory.ts';
import { defineHandler } from '../shared/http/defineHandler.ts';
import { defineWarmUp } from '../shared/http/warmUp.ts';
import { readVariable } from '../shared/runtime/environment.ts';
import { openService } from '../shared/runtime/service.ts';
import { defineInventoryAdjustments } from '../shared/store/inventoryAdjustments.ts';

const service = openService({ cacheMiddleware: true });
const inventory = defineInventoryAdjustments(
  service.client,
  readVariable('INVENTORY_TABLE'),
  readVariable('REQUESTS_TABLE'),
);

/** POST /inventory/adjustments: adds to stock counts, all or none, once for each key. It creates nothing. */
export const handler = defineHandler(
  adjustInventory,
  service,
  async ({ body: { adjustments }, idempotencyKey }) => {
    const { items, isReplay } = await inventory.adjust(adjustments, idempotencyKey);
    return { body: { entries: items }, isReplay };
  },
);

/** Without an `Idempotency-Key` it is refused, so that it stores no outcome. */
export const warmUp = defineWarmUp(adjustInventory, handler);
