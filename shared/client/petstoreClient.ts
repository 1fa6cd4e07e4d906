import type { OperationId } from '../contract/operations.ts';
import { startCall } from './call.ts';
import { defineInventoryMethods, type InventoryMethods } from './inventory.ts';
import { defineOrderMethods, type OrderMethods } from './orders.ts';
import { definePetMethods, type PetMethods } from './pets.ts';
import { type CallOptions, type ClientOptions, parseOptions } from './settings.ts';

/**
 * Calls the service. Every method rejects with a `PetstoreError`, or with the reason of the caller's
 * `AbortSignal`. What only reads is sent again after 429, 5xx, a lost connection or a timeout.
 */
export interface PetstoreClient extends InventoryMethods, PetMethods, OrderMethods {}

/** It does not compile while it lacks an operation of the contract. */
type CompleteClient = PetstoreClient & Readonly<Record<OperationId, unknown>>;

/**
 * A client of one deployment with one API key.
 * @throws {TypeError} when an option makes no sense; the message never has the key
 */
export function createPetstoreClient(options: ClientOptions): PetstoreClient {
  const settings = parseOptions(options);
  const start = (options?: CallOptions) => startCall(settings, options);
  const client: CompleteClient = {
    ...defineInventoryMethods(start),
    ...definePetMethods(start),
    ...defineOrderMethods(start),
  };
  return client;
}
