export type { ErrorCode } from '../contract/errorBody.ts';
export type {
  EntryOf,
  EntryPreconditions,
  IdempotencyOptions,
  Included,
  InventoryList,
  InventoryQuery,
  StockChange,
  UpdatePreconditions,
} from './inventory.ts';
export {
  createPetstoreClient,
  type OrderPage,
  type OrderQuery,
  type PetstoreClient,
} from './petstoreClient.ts';
export { type Effect, PetstoreError, type PetstoreErrorCode } from './petstoreError.ts';
export type {
  InventoryItem,
  InventoryUpdate,
  Named,
  Order,
  Page,
  Pet,
  PetStatus,
  TaggedInventoryItem,
} from './resources.ts';
export type {
  Bounds,
  CallOptions,
  ClientOptions,
  Deprecation,
  ResponseInfo,
  SharedOptions,
} from './settings.ts';
