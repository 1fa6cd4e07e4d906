import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { defineIdempotentUpdates } from './idempotentUpdates.ts';
import { newVersion } from './inventoryRecord.ts';
import { defineRequestStore } from './requestStore.ts';
import {
  type InventoryEntry,
  toConflict,
  toUnknown,
  type Update,
  updateEntry,
  watchAttempts,
} from './updateEntry.ts';

export interface InventoryUpdates {
  /**
   * Sets the stock count of an entry that exists; where versions are given, only of one that is in one
   * of those states.
   * @param idempotencyKey names the request among all that were ever sent: the same one again, within 24
   *   hours, has no second effect and gets the answer of the first that succeeded
   * @throws {NotFound} when there is no such entry
   * @throws {PreconditionFailed} when there is, in another state, and this request changed nothing
   * @throws {StoreUnavailable} also when it cannot be told whether this request changed the entry
   */
  setQuantity(update: Update, idempotencyKey?: string): Promise<InventoryEntry>;
}

/** @param requestsTable where the answers to requests with an idempotency key are kept */
export function defineInventoryUpdates(
  client: DynamoDBClient,
  tableName: string,
  requestsTable: string,
): InventoryUpdates {
  watchAttempts(client);
  const setIdempotently = defineIdempotentUpdates(
    client,
    tableName,
    defineRequestStore(client, requestsTable),
  );

  /** One write, and where its condition fails one read. */
  async function setOnce(update: Update): Promise<InventoryEntry> {
    const version = newVersion();
    const outcome = await updateEntry(client, tableName, update, version);
    if (outcome.kind === 'updated') return { item: outcome.item, version };
    throw outcome.isCertain ? toConflict(update, outcome) : toUnknown();
  }

  return {
    setQuantity: (update, idempotencyKey) =>
      idempotencyKey === undefined ? setOnce(update) : setIdempotently(update, idempotencyKey),
  };
}
