import type { PetStatus } from '../../contract/values/petStatus.ts';
import type { InventoryItem, Order, TaggedInventoryItem } from './resources.ts';

/** Which entries, and what of each. */
export interface InventoryQuery<Include extends Included = Included> {
  /** Leaves out the entries of other statuses. */
  readonly status?: PetStatus | undefined;
  /** 1 to 100 pets: their entries, in this order, without those that do not exist; without a `limit`. */
  readonly petIds?: readonly bigint[] | undefined;
  /** Gives each entry its `etag`. */
  readonly include?: Include;
  /** The most entries that the answer may have: 1 to 1,000. Without one, all of them. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly cursor?: string | undefined;
}

/** What an entry can have beside its own members. */
export type Included = 'etag' | undefined;

export type EntryOf<Include extends Included> = Include extends 'etag'
  ? TaggedInventoryItem
  : InventoryItem;

export interface InventoryList<Include extends Included = undefined>
  extends Page<EntryOf<Include>> {
  /** For `ifNoneMatch`. A page has none, and neither has a list of more than some 60,000 entries. */
  etag: string | undefined;
}

/** A part of a list, or all of it. */
export interface Page<Element> {
  items: Element[];
  /** The `cursor` of the page behind this one; undefined after the last. */
  next: string | undefined;
}

export interface OrderQuery {
  /** The most orders that the page may have: 1 to 1,000, 100 by default. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly cursor?: string | undefined;
}

export type OrderPage = Page<Order>;

export interface UpdatePreconditions {
  /** An entry's `etag`, quotes included: when the entry has changed since, nothing is done (412). */
  readonly ifMatch?: string | undefined;
  /**
   * 1 to 255 visible ASCII characters: the same update with the same key has its effect once, within 24
   * hours. With `ifMatch`, the client makes one up for the attempts of a call.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The new quantity for an entry as it is. */
export type StockChange = (entry: TaggedInventoryItem) => number | Promise<number>;
