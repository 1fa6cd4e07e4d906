import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { InventoryItem, Order, Pet } from '../../shared/contract/schemas.ts';
import { parseJson } from '../../shared/contract/values.ts';
import { toJsonProblem } from '../bulk/resources.ts';
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
    return parseStoreData(decode(await readFile(file)));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new StartFailure(`The data file ${file} cannot be used: ${toReason(error)}`);
  }
}

/**
 * Lists may be missing; each entry must be as the contract has it, and its id the only one in its list.
 * @throws {StartFailure} that names the first entry that is wrong
 */
export function parseStoreData(text: string): StoreData {
  const data = parse(text);
  if (!isObject(data)) throw new StartFailure('it must hold a JSON object');
  const { inventory, pets, orders, ...others } = data;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new StartFailure(`"${unknown}" is none of "inventory", "pets" and "orders"`);
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
    throw new StartFailure(`it is not JSON: ${toJsonProblem(text, error as Error)}`);
  }
}

function parseList<Id extends string, Entry extends Record<Id, bigint>>(
  name: string,
  list: unknown,
  schema: z.ZodMiniType<Entry>,
  id: Id,
): Entry[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw new StartFailure(`"${name}" must be a JSON array`);
  const indexes = new Map<bigint, number>();
  return list.map((value, index) => {
    const place = `${name}[${index}]`;
    if (!isObject(value)) throw new StartFailure(`${place} must be a JSON object`);
    const result = z.safeParse(schema, value);
    if (!result.success) throw new StartFailure(toComplaint(place, result.error));
    const known = indexes.get(result.data[id]);
    if (known !== undefined) {
      throw new StartFailure(
        `${place}.${id} must not repeat that of ${name}[${known}], ${result.data[id]}`,
      );
    }
    indexes.set(result.data[id], index);
    return result.data;
  });
}

/** For example `inventory[3].quantity must be an integer from 0 to 2147483647`. */
function toComplaint(place: string, { issues: [issue] }: z.core.$ZodError): string {
  const { path = [], message = '' } = issue ?? {};
  const keys = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`));
  const expected =
    issue && 'expected' in issue ? `must be of type ${issue.expected}` : 'is not valid';
  return `${place}${keys.join('')} ${message.startsWith('must ') ? message : expected}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Drops a byte order mark, which JSON.parse would refuse. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** JSON.parse quotes the text that it refuses, line ends included. */
function toReason({ message }: Error): string {
  return message.replaceAll(/\s+/g, ' ');
}
