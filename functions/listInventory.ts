import { listInventory } from '../shared/contract/operations/listInventory.ts';
import { DEFAULT_LIMIT } from '../shared/contract/pageQuery.ts';
import { defineStreamedHandler } from '../shared/http/defineHandler.ts';
import { defineWarmUp } from '../shared/http/warmUp.ts';
import { readVariable } from '../shared/runtime/environment.ts';
import { openService } from '../shared/runtime/service.ts';
import { defineInventoryList } from '../shared/store/inventoryList.ts';

const service = openService();
const inventory = defineInventoryList(service.client, readVariable('INVENTORY_TABLE'));

/** GET /inventory: all entries as a streamed list, or a page of them, or the entries of some ids. */
export const handler = defineStreamedHandler(
  listInventory,
  service,
  async ({ query: { petId, limit, cursor, status, include } }) => {
    const selection = { status, withTags: include === 'etag' };
    if (petId) return { body: await inventory.find(petId, selection) };
    if (limit === undefined && cursor === undefined) return { pages: inventory.pages(selection) };
    const { items, next } = await inventory.page({
      limit: limit ?? DEFAULT_LIMIT,
      cursor,
      ...selection,
    });
    return { body: items, next };
  },
);

/** Warms up the whole list, which uses the most code. */
export const warmUp = defineWarmUp(
  listInventory,
  defineStreamedHandler(listInventory, service, async () => ({ pages: inventory.sample() })),
);
