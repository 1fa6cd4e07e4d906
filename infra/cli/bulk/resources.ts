import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { toJson } from '../../../shared/contract/json.ts';
import { InventoryItem, Order, Pet } from '../../../shared/contract/schemas.ts';
import { unmarshallOptions } from '../../../shared/store/documents.ts';
import { toInventoryItem, toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { toOrder, toOrderRecord } from '../../../shared/store/orderStore.ts';
import { toPet } from '../../../shared/store/petStore.ts';

export type ResourceName = 'inventory' | 'pets' | 'orders';
export type Item = Record<string, AttributeValue>;

export interface Entry {
  readonly key: string;
  readonly item: Item;
  /** Its own id, and the pet's of an order. */
  readonly ids: readonly bigint[];
}

/** The form of a table's entries in a data file and in the table. */
export interface Resource<Contents = unknown> {
  /** The columns of a CSV file. Without them the entries are nested, and only JSON Lines can hold them. */
  readonly columns?: readonly string[];
  /** The entry, or what is wrong with it. */
  parse(value: unknown): Entry | string;
  /** The key in the table, as in messages: `petId 7`, or `id 7 at 2026-12-24T09:59:00.000Z` of an order. */
  toKey(contents: Contents): string;
  toItem(contents: Contents): Item;
  /** The contract's members of a table's entry, in its order. @throws {Error} that names an invalid entry */
  toMembers(item: Item): Contents;
}

// `marshall` writes a bigint exactly.
export const resources = {
  inventory: {
    ...defineResource(InventoryItem, 'petId', toInventoryRecord, toInventoryItem),
    columns: ['petId', 'quantity', 'status'],
  },
  // The table has a pet unchanged.
  pets: defineResource(Pet, 'id', (pet) => marshall(pet), fromDocument(toPet)),
  orders: defineResource(
    Order,
    'id',
    (order) => marshall(toOrderRecord(order)),
    fromDocument(toOrder),
    (order) => `id ${order.id} at ${toOrderRecord(order).placed.replace(/#.*/, '')}`,
  ),
} as const;

export const resourceNames = Object.keys(resources) as ResourceName[];

/** Reads an item as the document client does. */
function fromDocument<Contents>(read: (record: Record<string, unknown>) => Contents) {
  return (item: Item) => read(unmarshall(item, unmarshallOptions));
}

function defineResource<IdName extends string, Contents extends Record<IdName, bigint>>(
  schema: z.ZodMiniType<Contents>,
  idName: IdName,
  toItem: (contents: Contents) => Item,
  toMembers: (item: Item) => Contents,
  toKey = (contents: Contents) => `${idName} ${contents[idName]}`,
): Resource<Contents> {
  return {
    toItem,
    toKey,
    toMembers,
    parse(value) {
      const { success, data, error } = z.safeParse(schema, value);
      if (!success) return describeProblems(value, error);
      const item = toItem(data);
      const ids = [data[idName], ...('petId' in data && idName !== 'petId' ? [data.petId] : [])];
      return findSizeProblem(item) ?? { key: toKey(data), item, ids: ids as bigint[] };
    },
  };
}

/** DynamoDB's limit for an item, with the names of its attributes. */
const MAX_ITEM_BYTES = 400 * 1_024;

export function findSizeProblem(item: Item): string | undefined {
  const bytes = countItemBytes(item);
  if (bytes <= MAX_ITEM_BYTES) return undefined;
  const [size, limit] = [bytes, MAX_ITEM_BYTES].map((count) => count.toLocaleString('en'));
  return `takes ${size} bytes in the table, and DynamoDB takes at most ${limit}`;
}

/**
 * The size of an item as DynamoDB counts it, at most a few bytes too high: AWS documents the size of a number as
 * approximate. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function countItemBytes(item: Readonly<Item>): number {
  const sizes = Object.entries(item).map(
    ([name, value]) => Buffer.byteLength(name) + countValueBytes(value),
  );
  return sum(sizes);
}

function countValueBytes({ S, N, L, M }: AttributeValue): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (N !== undefined) return Math.ceil(N.length / 2) + 1;
  // Three bytes, and one for each element.
  if (L) return 3 + L.length + sum(L.map(countValueBytes));
  if (M) return 3 + Object.keys(M).length + countItemBytes(M);
  return 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** For example `quantity must be an integer from 0 to 2147483647, and is -1; status is missing`. */
export function describeProblems(value: unknown, { issues }: z.core.$ZodError): string {
  return issues
    .map((issue) => {
      const place = issue.path.join('.');
      const found = issue.path.reduce<unknown>(
        (inside, key) => (inside as Record<PropertyKey, unknown>)?.[key],
        value,
      );
      if (found === undefined) return `${place} is missing`;
      return `${place} ${findRule(issue)}, and is ${toShortJson(found)}`.trim();
    })
    .join('; ');
}

/** The contract's own words, or a replacement for zod's default message. */
function findRule(issue: z.core.$ZodIssue): string {
  if (issue.message.startsWith('must ')) return issue.message;
  return 'expected' in issue ? `must be of type ${issue.expected}` : 'is not valid';
}

function toShortJson(value: unknown): string {
  // How numbers arrive that no double holds.
  if (Number.isNaN(value)) return 'a fraction';
  if (Math.abs(Number(value)) === Number.POSITIVE_INFINITY) return 'too large';
  const text = toJson(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
