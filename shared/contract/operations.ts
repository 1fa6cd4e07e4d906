import * as z from 'zod/mini';
import { getPet } from './operations/getPet.ts';
import { listInventory } from './operations/listInventory.ts';
import { listOrders } from './operations/listOrders.ts';
import { updateInventory } from './operations/updateInventory.ts';
import { InventoryItem, ListedInventoryItem, Order, Pet } from './schemas.ts';

const rows = { listInventory, updateInventory, getPet, listOrders } as const;

export type OperationId = keyof typeof rows;

/**
 * Every operation of the service, each under its own operationId. Routes, functions, grants and the
 * local gateway are made by going through it; a function itself imports only its own operation, which
 * keeps its bundle small.
 */
export const operations: {
  readonly [Id in OperationId]: (typeof rows)[Id] & { readonly operationId: Id };
} = rows;

/**
 * The body of each operation's 200. They stand apart from the operations, which the functions import:
 * what a function answers comes from its store, and a schema that it never checks costs its cold start.
 */
export const responses = {
  listInventory: z.array(ListedInventoryItem),
  updateInventory: InventoryItem,
  getPet: Pet,
  listOrders: z.array(Order),
} as const satisfies Record<OperationId, z.core.$ZodType>;

/** What the document says of an operation beside its summary. */
export interface OperationText {
  readonly tag: 'Inventory' | 'Pets' | 'Orders';
  /** In Markdown; links lead to the guides beside the page. */
  readonly description: string;
  /** What a 200 has. */
  readonly success: string;
}

export const tagTexts: Readonly<Record<OperationText['tag'], string>> = {
  Inventory: 'How many of each pet are in stock.',
  Pets: 'The pets themselves.',
  Orders: 'What was ordered.',
};

export const operationTexts: Readonly<Record<OperationId, OperationText>> = {
  listInventory: {
    tag: 'Inventory',
    description:
      'Without a query, the whole inventory, in no order that means anything. A large one is sent while it is read, and a connection that breaks before the closing bracket means that it is not whole: see [Reading large lists](lists.html).',
    success: 'The entries that were asked for.',
  },
  updateInventory: {
    tag: 'Inventory',
    description:
      'Experimental: it may change, or go, without a new major version. Sets the stock count of an entry that exists; it never creates one, and never touches its status. Send `If-Match` and an `Idempotency-Key` to be safe from the updates of others and from lost answers: see [Updating safely](updates.html). Takes an API key with write permission.',
    success: 'The entry as it is after the update.',
  },
  getPet: {
    tag: 'Pets',
    description:
      'Deprecated: see [Deprecations](deprecations.html#getPet) for what to call instead, and until when it answers.',
    success: 'The pet.',
  },
  listOrders: {
    tag: 'Orders',
    description: 'A page of the orders, of 100 where no `limit` says otherwise.',
    success: 'The orders, newest first.',
  },
};

export const operationIds = Object.keys(operations) as readonly OperationId[];

/** One value for each operation. */
export function mapOperations<Value>(
  toValue: (operationId: OperationId) => Value,
): Record<OperationId, Value> {
  return Object.fromEntries(operationIds.map((id) => [id, toValue(id)])) as Record<
    OperationId,
    Value
  >;
}
