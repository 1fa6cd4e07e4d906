export type { ErrorCode } from '../contract/errors/errorBody.ts';
export { createPetstoreClient } from './createPetstoreClient.ts';
export type { CallOptions } from './http/call.ts';
export type { Deprecation } from './http/deprecation.ts';
export { PetstoreError, type PetstoreErrorCode } from './http/petstoreError.ts';
export type { Bounds, ClientOptions } from './http/settings.ts';
export type {
  EntryOf,
  Included,
  InventoryList,
  InventoryQuery,
} from './operations/listInventory.ts';
export type { OrderPage, OrderQuery } from './operations/listOrders.ts';
export type { Page } from './operations/pages.ts';
export type {
  InventoryItem,
  InventoryUpdate,
  Named,
  Order,
  Pet,
  PetStatus,
  TaggedInventoryItem,
} from './operations/resources.ts';
export type { UpdatePreconditions } from './operations/updateInventory.ts';
export type { StockChange } from './operations/updateStock.ts';
export type { PetstoreClient } from './petstoreClient.ts';
