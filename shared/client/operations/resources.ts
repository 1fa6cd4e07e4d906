import type { PetStatus } from '../../contract/values/petStatus.ts';

export type { PetStatus };

/** The stock of one pet. */
export interface InventoryItem {
  petId: bigint;
  /** The stock count: an integer from 0 to 2,147,483,647. */
  quantity: number;
  status: PetStatus;
}

/** An entry with the tag of its present state, as `If-Match` takes it (RFC 9110 section 8.8.3). */
export interface TaggedInventoryItem extends InventoryItem {
  etag: string;
}

export interface InventoryUpdate {
  /** The new stock count: an integer from 0 to 2,147,483,647. */
  quantity: number;
}

export interface Pet {
  id: bigint;
  name: string;
  status: PetStatus;
  category?: Named;
  /** URIs. */
  photoUrls?: string[];
  tags?: Named[];
}

export interface Named {
  id: bigint;
  name: string;
}

export interface Order {
  id: bigint;
  petId: bigint;
  /** An integer of at least 1. */
  quantity: number;
  status: 'placed' | 'approved' | 'delivered';
  /** When, as an RFC 3339 date-time. */
  placedAt: string;
  /** When, as an RFC 3339 date-time. */
  shipDate?: string;
  complete?: boolean;
}
