import type { CallOptions } from './http/options.ts';
import type {
  EntryOf,
  Included,
  InventoryList,
  InventoryQuery,
  OrderPage,
  OrderQuery,
  StockChange,
  UpdatePreconditions,
} from './operations/queries.ts';
import type { InventoryUpdate, Pet, TaggedInventoryItem } from './operations/resources.ts';

/**
 * Calls the service. Every method rejects with a `PetstoreError`, or with the reason of the caller's
 * `AbortSignal`. What only reads is sent again after 429, 5xx, a lost connection or a timeout.
 */
export interface PetstoreClient {
  /** The list, or undefined when it is still the one whose `etag` is given as `ifNoneMatch`. */
  listInventory<Include extends Included = undefined>(
    query: InventoryQuery<Include> & { readonly ifNoneMatch: string | undefined },
    options?: CallOptions,
  ): Promise<InventoryList<Include> | undefined>;
  /** All entries, or those that the query asks for, in one answer: a large inventory is better streamed. */
  listInventory<Include extends Included = undefined>(
    query?: InventoryQuery<Include>,
    options?: CallOptions,
  ): Promise<InventoryList<Include>>;

  /** The inventory page by page: of 1,000 entries where the query has no `limit`. */
  inventoryPages<Include extends Included = undefined>(
    query?: Omit<InventoryQuery<Include>, 'petIds'>,
    options?: CallOptions,
  ): AsyncGenerator<InventoryList<Include>, void, undefined>;

  /**
   * The whole inventory entry by entry, as they arrive, without ever holding all of it. Only its beginning
   * is tried again: a list that breaks off throws `incomplete_list` after the entries that came.
   */
  streamInventory<Include extends Included = undefined>(
    query?: Pick<InventoryQuery<Include>, 'status' | 'include'>,
    options?: CallOptions,
  ): AsyncGenerator<EntryOf<Include>, void, undefined>;

  /**
   * Sets a stock count, whatever it was: where it follows from what was read, use `updateStock`. Sent
   * again after 429; with `ifMatch` also after 5xx, a lost connection or a timeout, with one
   * `Idempotency-Key`, so that it counts once.
   * @returns the entry with its new tag
   */
  updateInventory(
    petId: bigint,
    update: InventoryUpdate,
    options?: CallOptions & UpdatePreconditions,
  ): Promise<TaggedInventoryItem>;

  /**
   * Changes a stock count by what it is, safely among any number of clients: reads the entry, calls
   * `change` for the new quantity, and writes it if nobody else has written since; otherwise begins anew,
   * for as long as `totalTimeout` lets it, and then rejects with `precondition_failed` or `timeout`. When
   * `change` throws, nothing is written and the call rejects with the same. An entry that does not exist
   * is `not_found`.
   * @returns the entry as this update left it
   */
  updateStock(
    petId: bigint,
    change: StockChange,
    options?: CallOptions,
  ): Promise<TaggedInventoryItem>;

  /** @deprecated A warning says after when the operation may be gone, and where to read on. */
  getPet(petId: bigint, options?: CallOptions): Promise<Pet>;

  /** A page of the orders, newest first. */
  listOrders(query?: OrderQuery, options?: CallOptions): Promise<OrderPage>;

  /** All orders, newest first, page by page: of 1,000 where the query has no `limit`. */
  orderPages(query?: OrderQuery, options?: CallOptions): AsyncGenerator<OrderPage, void, undefined>;
}
