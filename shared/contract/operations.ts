import * as z from 'zod/mini';
import { adjustInventory } from './operations/adjustInventory.ts';
import { getInventoryEntry } from './operations/getInventoryEntry.ts';
import { getPet } from './operations/getPet.ts';
import { listInventory } from './operations/listInventory.ts';
import { listOrders } from './operations/listOrders.ts';
import { updateInventory } from './operations/updateInventory.ts';
import { AdjustedInventory, InventoryItem, ListedInventoryItem, Order, Pet } from './schemas.ts';

const rows = {
  listInventory,
  getInventoryEntry,
  updateInventory,
  adjustInventory,
  getPet,
  listOrders,
} as const;

export type OperationId = keyof typeof rows;

/**
 * Every operation by its operationId. Routes, functions, grants and the local gateway loop over it. A function imports
 * only its own operation, which keeps its bundle small.
 */
export const operations: {
  readonly [Id in OperationId]: (typeof rows)[Id] & { readonly operationId: Id };
} = rows;

/**
 * The body of each operation's 200. Separate from the operations, which the functions import: a function never checks
 * its own responses, and the schemas would slow its cold start.
 */
export const responses = {
  listInventory: z.array(ListedInventoryItem),
  getInventoryEntry: InventoryItem,
  updateInventory: InventoryItem,
  adjustInventory: AdjustedInventory,
  getPet: Pet,
  listOrders: z.array(Order),
} as const satisfies Record<OperationId, z.core.$ZodType>;

/** An operation's texts in the OpenAPI document, besides its summary. */
export interface OperationText {
  readonly tag: 'Inventory' | 'Pets' | 'Orders';
  /** Markdown; links are relative to the guides. */
  readonly description: string;
  /** Describes the 200. */
  readonly success: string;
  /** Markdown: what clients of a deprecated operation use in its place. */
  readonly replacement?: string;
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
      'Without a query, returns the whole inventory, in no particular order. A large inventory is a streamed list. If the connection breaks before the closing bracket, the list is truncated: see [Lists](lists.html).',
    success: 'The requested entries.',
  },
  getInventoryEntry: {
    tag: 'Inventory',
    description:
      'Returns one entry with its `ETag`, as `If-Match` takes it. The read is consistent: it sees every acknowledged change. With `If-None-Match`, an unchanged entry is not sent again: see [Lists](lists.html#one-entry).',
    success: 'The entry.',
  },
  updateInventory: {
    tag: 'Inventory',
    description:
      'Experimental: it may change, or be removed, without a new major version. Sets the stock count of an existing entry, such as after a stocktake; to sell, use `adjustInventory`. It never creates an entry and never changes its status. Send `If-Match`, so that it overwrites no other change, and no `Idempotency-Key`, which gets 400: see [Safe updates](updates.html). Requires an API key with write permission.',
    success: 'The entry after the update.',
  },
  adjustInventory: {
    tag: 'Inventory',
    description:
      'Beta: it may still change, with notice. Adds a delta to the stock counts of 1 to 10 pets, all of them or none: a sale has negative deltas, a return positive ones. To sell, an entry must be `available` and have the units. One `Idempotency-Key` has one outcome, kept for 30 days: the same adjustment sent again changes nothing and gets the first outcome: 200 with the current entries, 404 `not_found` or 409. A 404 or 409 names in `refused` each pet that could not be sold or returned. See [Selling](selling.html). Requires an API key with write permission.',
    success:
      'The entries after the adjustment, in the order of the request. They may include later changes.',
  },
  getPet: {
    tag: 'Pets',
    description:
      'Deprecated: see [Changes and deprecations](deprecations.html#getPet) for the replacement and the sunset date.',
    success: 'The pet.',
    replacement:
      'Stock and status of a pet come from [`getInventoryEntry`](lists.html#one-entry), and of many pets in one request from [`listInventory`](lists.html#parts-of-a-list). Name, category, photos and tags have no replacement in this service yet. A future one will be announced here. Before the sunset, copy the data that you need, or plan for another source.',
  },
  listOrders: {
    tag: 'Orders',
    description: 'Returns a page of the orders: 100 without a `limit`.',
    success: 'The orders, newest first.',
  },
};

export const operationIds = Object.keys(operations) as readonly OperationId[];

export function mapOperations<Value>(
  toValue: (operationId: OperationId) => Value,
): Record<OperationId, Value> {
  return Object.fromEntries(operationIds.map((id) => [id, toValue(id)])) as Record<
    OperationId,
    Value
  >;
}
