import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { InventoryItem, Order, Pet } from '../../shared/contract/schemas.ts';
import { parseDataJson } from '../cli/bulk/dataJson.ts';
import {
  describeProblems,
  findSizeProblem,
  type Resource,
  resourceNames,
  resources,
} from '../cli/bulk/resources.ts';

const StoreData = z.strictObject(
  {
    inventory: z._default(z.array(InventoryItem), []),
    pets: z._default(z.array(Pet), []),
    orders: z._default(z.array(Order), []),
  },
  'must have only "inventory", "pets" and "orders"',
);

export type StoreData = Readonly<z.infer<typeof StoreData>>;

/**
 * Reads a data file. Lists may be missing. Each entry must match the contract, and its key must be unique in its list.
 * @throws {Error} when the file cannot be read or has any other content
 */
export async function readStoreData(file: string | URL): Promise<StoreData> {
  try {
    // Drops a byte order mark, which JSON.parse would refuse.
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const value = parseDataJson(decoder.decode(await readFile(file)));
    const { success, data, error } = z.safeParse(StoreData, value);
    if (!success)
      throw new Error(describeProblems(value, { ...error, issues: error.issues.slice(0, 3) }));
    for (const name of resourceNames) {
      const { toKey, toItem }: Resource = resources[name];
      const known = new Set<string>();
      const repeated = data[name].map(toKey).find((key) => known.size === known.add(key).size);
      if (repeated !== undefined) throw new Error(`${name} has the ${repeated} twice`);
      for (const entry of data[name]) {
        const problem = findSizeProblem(toItem(entry));
        if (problem) throw new Error(`${name}: ${toKey(entry)} ${problem}`);
      }
    }
    return data;
  } catch (error) {
    // JSON.parse quotes the invalid text with its line ends.
    const reason = (error as Error).message.replaceAll(/\s+/g, ' ');
    throw new Error(`The data file ${file} cannot be used: ${reason}`);
  }
}
