export type { ErrorCode } from '../contract/errorBody.ts';
export type { Deprecation } from './deprecation.ts';
export type {
  EntryOf,
  Included,
  InventoryList,
  InventoryQuery,
  StockChange,
  UpdatePreconditions,
} from './inventory.ts';
export type { OrderPage, OrderQuery } from './orders.ts';
export type { Page } from './pages.ts';
export { createPetstoreClient, type PetstoreClient } from './petstoreClient.ts';
export { PetstoreError, type PetstoreErrorCode } from './petstoreError.ts';
export type {
  InventoryItem,
  InventoryUpdate,
  Named,
  Order,
  Pet,
  PetStatus,
  TaggedInventoryItem,
} from './resources.ts';
export type { Bounds, CallOptions, ClientOptions } from './settings.ts';
