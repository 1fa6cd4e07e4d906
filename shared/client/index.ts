export type { ErrorCode } from '../contract/errors/errorBody.ts';
export { createPetstoreClient } from './createPetstoreClient.ts';
export type { Deprecation } from './http/deprecation.ts';
export type { Bounds, CallOptions, ClientOptions } from './http/options.ts';
export { PetstoreError, type PetstoreErrorCode } from './http/petstoreError.ts';
export type {
  EntryOf,
  Included,
  InventoryList,
  InventoryQuery,
  OrderPage,
  OrderQuery,
  Page,
  StockChange,
  UpdatePreconditions,
} from './operations/queries.ts';
export type {
  InventoryItem,
  InventoryUpdate,
  Named,
  Order,
  Pet,
  PetStatus,
  TaggedInventoryItem,
} from './operations/resources.ts';
export type { PetstoreClient } from './petstoreClient.ts';
