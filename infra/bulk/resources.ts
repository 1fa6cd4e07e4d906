import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { InventoryItem } from '../../shared/contract/schemas/inventory.ts';
import { Order } from '../../shared/contract/schemas/order.ts';
import { Pet } from '../../shared/contract/schemas/pet.ts';
import { toJson } from '../../shared/contract/values/json.ts';
import { INT64_ERROR } from '../../shared/contract/values/parseInt64.ts';
import { toInventoryItem, toInventoryRecord } from '../../shared/store/inventoryRecord.ts';
import { toOrderRecord } from '../../shared/store/orderStore.ts';
import { toPetRecord } from '../../shared/store/petStore.ts';
import { type PlainValue, toAttributes, toMembers } from './attributeValues.ts';

export type ResourceName = 'inventory' | 'pets' | 'orders';
export type Item = Record<string, AttributeValue>;

/** An entry of a data file, ready for its table. */
export interface Entry {
  readonly id: bigint;
  readonly item: Item;
}

/** How the entries of one table look in a data file. */
export interface Resource {
  /** The member that is the entry's id. */
  readonly idName: string;
  /** The columns of a CSV file; without them, the entries nest and only JSON Lines hold them. */
  readonly columns?: readonly string[];
  /** The entry, or what is wrong with it. */
  parse(value: unknown): Entry | string;
  /** The members of an entry as its table has it, in the contract's order. @throws {Error} when it breaks the contract */
  toMembers(item: Item): Record<string, PlainValue>;
}

export const resources: Record<ResourceName, Resource> = {
  inventory: {
    ...defineResource(InventoryItem, 'petId', toInventoryRecord, (item) => ({
      ...toInventoryItem(item),
    })),
    columns: ['petId', 'quantity', 'status'],
  },
  pets: defineResource(Pet, 'id', (pet) => toDocument(toPetRecord(pet)), toMembers),
  orders: defineResource(Order, 'id', (order) => toDocument(toOrderRecord(order)), toMembers),
};

export const resourceNames = Object.keys(resources) as ResourceName[];

function defineResource<IdName extends string, Contents extends Record<IdName, bigint>>(
  schema: z.ZodMiniType<Contents>,
  idName: IdName,
  toItem: (contents: Contents) => Item,
  fromItem: (item: Item) => Record<string, PlainValue>,
): Resource {
  return {
    idName,
    parse(value) {
      const { success, data, error } = z.safeParse(schema, value);
      return success ? { id: data[idName], item: toItem(data) } : toComplaint(value, error);
    },
    toMembers(item) {
      const members = fromItem(item);
      const { success, data, error } = z.safeParse(schema, members);
      if (success) return data as Record<string, PlainValue>;
      throw new Error(
        `The record ${toJson(members)} is not valid: ${toComplaint(members, error)}.`,
      );
    },
  };
}

/** A document as its table keeps it, its numbers exact. */
export function toDocument(members: object): Item {
  return toAttributes(members as Record<string, PlainValue>);
}

/** Such as `quantity must be an integer from 0 to 2147483647, and is -1; status is missing`. */
function toComplaint(value: unknown, { issues }: z.core.$ZodError): string {
  return issues
    .map((issue) => {
      const place = issue.path.join('.');
      const found = issue.path.reduce<unknown>(
        (inside, key) => (inside as Record<PropertyKey, unknown>)?.[key],
        value,
      );
      if (place !== '' && found === undefined) return `${place} is missing`;
      return `${place} ${toRule(issue)}, and is ${toShortJson(found)}`.trim();
    })
    .join('; ');
}

/** The contract's own words, or those that zod's default message stands for. */
function toRule(issue: z.core.$ZodIssue): string {
  if (issue.message.startsWith('must ')) return issue.message;
  if ('expected' in issue) return `must be of type ${issue.expected}`;
  // Only an int64 leaves the message for its bounds to zod.
  return issue.code === 'too_big' || issue.code === 'too_small' ? INT64_ERROR : 'is not valid';
}

function toShortJson(value: unknown): string {
  const text = toJson(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
