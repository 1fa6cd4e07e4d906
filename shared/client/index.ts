export type { ErrorCode, Refusal, RefusalCode } from '../contract/errorBody.ts';
export type {
  AdjustedInventory,
  EntryOf,
  EntryPreconditions,
  Included,
  InventoryList,
  InventoryQuery,
  OutcomeOptions,
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
  InventoryAdjustment,
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
