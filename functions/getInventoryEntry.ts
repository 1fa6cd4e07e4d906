import { NotFound } from '../shared/contract/errors.ts';
import { getInventoryEntry } from '../shared/contract/operations/getInventoryEntry.ts';
import { entryPetId } from '../shared/contract/parameters.ts';
import { UNUSED_ID } from '../shared/contract/values.ts';
import { defineHandler } from '../shared/http/defineHandler.ts';
import { defineWarmUp } from '../shared/http/warmUp.ts';
import { readVariable } from '../shared/runtime/environment.ts';
import { openService } from '../shared/runtime/service.ts';
import { readInventoryEntry } from '../shared/store/inventoryEntry.ts';

const service = openService({ cacheMiddleware: true });
const table = readVariable('INVENTORY_TABLE');

/** GET /inventory/{petId}: one entry, with its tag. */
export const handler = defineHandler(
  getInventoryEntry,
  service,
  async ({ parameters: { petId } }) => {
    const entry = await readInventoryEntry(service.client, table, petId);
    if (!entry) throw new NotFound(entryPetId, petId);
    return { body: entry.item, version: entry.version };
  },
);

export const warmUp = defineWarmUp(getInventoryEntry, handler, {
  pathParameters: { petId: UNUSED_ID },
});
