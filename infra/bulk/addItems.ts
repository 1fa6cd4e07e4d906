import { defineInsert } from './insertItems.ts';
import { toKeyText } from './keySchema.ts';
import { putItems } from './putItems.ts';
import { readExistingKeys } from './readExistingKeys.ts';
import type { Item } from './resources.ts';
import { type TableAccess, type WriteGroup, writeBatches } from './tableWriter.ts';
import { countWriteUnits } from './writeRate.ts';

/**
 * Where more of a group than this was there already, the next is looked up before it is written. A
 * refused write costs as much as a write, ten times what an eventually consistent look costs.
 */
const WORTH_READING = 0.1;

/**
 * Leaves alone what is there. BatchWriteItem takes no conditions, and a look before an unconditional
 * write could still run over an update made between the two; PartiQL's INSERT fails where an item is
 * there, costs what a put costs, and goes 25 at a time.
 */
export function defineAddingWriter(table: TableAccess): WriteGroup {
  const insert = defineInsert(table);
  let knowsPartiql = true;
  let readsFirst = false;

  async function addBatch(batch: readonly Item[]): Promise<number> {
    await table.rate.take(countWriteUnits(batch));
    if (knowsPartiql) {
      try {
        return await insert(batch);
      } catch (error) {
        if ((error as Error).name !== 'UnknownOperationException') throw error;
        knowsPartiql = false;
      }
    }
    return putItems(table, batch);
  }

  return async function addGroup(items) {
    const existing = readsFirst ? await readExistingKeys(table, items) : new Set<string>();
    const absent = items.filter((item) => !existing.has(toKeyText(table.key, item)));
    const written = await writeBatches(absent, addBatch);
    const kept = items.length - written;
    readsFirst = kept > items.length * WORTH_READING;
    return { written, kept };
  };
}
