import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { InventoryItem, Order, Pet } from '../../shared/contract/schemas.ts';
import { parseJson } from '../../shared/contract/values.ts';
import { toComplaint } from '../bulk/resources.ts';
import { StartFailure } from './engine/loopback.ts';

/** What the service's tables hold. */
export interface StoreData {
  readonly inventory: readonly InventoryItem[];
  readonly pets: readonly Pet[];
  readonly orders: readonly Order[];
}

/** @throws {StartFailure} when the file cannot be read or holds anything else than StoreData */
export async function readStoreData(file: string | URL): Promise<StoreData> {
  try {
    // Drops a byte order mark, which JSON.parse would refuse.
    const decoder = new TextDecoder('utf-8', { fatal: true });
    return parseStoreData(decoder.decode(await readFile(file)));
  } catch (error) {
    // JSON.parse quotes the text that it refuses, line ends included.
    const reason = (error as Error).message.replaceAll(/\s+/g, ' ');
    throw new StartFailure(`The data file ${file} cannot be used: ${reason}`);
  }
}

/**
 * Lists may be missing; each entry must be as the contract has it, and its id the only one in its list.
 * @throws {Error} that names the first entry that is wrong
 */
export function parseStoreData(text: string): StoreData {
  const data = parse(text);
  if (!isObject(data)) throw new Error('it must hold a JSON object');
  const { inventory, pets, orders, ...others } = data;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new Error(`"${unknown}" is none of "inventory", "pets" and "orders"`);
  }
  return {
    inventory: parseList('inventory', inventory, InventoryItem, 'petId'),
    pets: parseList('pets', pets, Pet, 'id'),
    orders: parseList('orders', orders, Order, 'id'),
  };
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`it is not JSON: ${(error as Error).message}`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseList<Id extends string, Entry extends Record<Id, bigint>>(
  name: string,
  list: unknown = [],
  schema: z.ZodMiniType<Entry>,
  id: Id,
): Entry[] {
  if (!Array.isArray(list)) throw new Error(`"${name}" must be a JSON array`);
  const indexes = new Map<bigint, number>();
  return list.map((value, index) => {
    const place = `${name}[${index}]`;
    const { success, data, error } = z.safeParse(schema, value);
    if (!success) throw new Error(`${place}: ${toComplaint(value, error)}`);
    const known = indexes.get(data[id]);
    if (known !== undefined) {
      throw new Error(`${place}.${id} must not repeat that of ${name}[${known}], ${data[id]}`);
    }
    indexes.set(data[id], index);
    return data;
  });
}
