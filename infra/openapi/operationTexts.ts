import type { OperationId } from '../../shared/contract/operations.ts';

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
