import type { Call } from '../http/call.ts';
import { drawBackoff, pause } from '../http/pause.ts';
import { PetstoreError } from '../http/petstoreError.ts';
import { listInventory } from './listInventory.ts';
import type { StockChange } from './queries.ts';
import type { TaggedInventoryItem } from './resources.ts';
import { updateInventory } from './updateInventory.ts';

/** Reads, changes, and writes only where nobody else did in between; otherwise it begins anew. */
export async function updateStock(
  call: Call,
  petId: bigint,
  change: StockChange,
): Promise<TaggedInventoryItem> {
  for (let conflicts = 0; ; conflicts += 1) {
    const begun = performance.now();
    const entry = await readEntry(call, petId);
    const quantity = await change(entry);
    try {
      return await updateInventory(call, petId, { quantity }, { ifMatch: entry.etag });
    } catch (error) {
      if (!(error instanceof PetstoreError) || error.code !== 'precondition_failed') throw error;
      // Whoever takes long is in the way for long. Twice that lets two clients hardly wait, and fifty
      // end with the fewest requests.
      const delay = drawBackoff(2 * (performance.now() - begun), conflicts);
      if (delay >= call.timeLeft()) throw error;
      await pause(delay, call.signal);
    }
  }
}

async function readEntry(call: Call, petId: bigint): Promise<TaggedInventoryItem> {
  const list = await listInventory(call, { petIds: [petId], include: 'etag' });
  const entry = list?.items[0];
  if (entry) return entry;
  throw new PetstoreError('not_found', `There is no inventory entry with petId ${petId}.`);
}
