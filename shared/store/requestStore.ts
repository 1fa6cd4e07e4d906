import { type DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { IDEMPOTENCY_HOURS } from '../contract/headerLimits.ts';
import type { InventoryItem } from '../contract/schemas/inventory.ts';
import { letterOf, toStatus } from './inventoryRecord.ts';

/** An update that was sent with an `Idempotency-Key` and succeeded. */
export interface AnsweredRequest {
  /** Tells the request from every other one, and begins with the version that its update gave the entry. */
  readonly fingerprint: string;
  /** What it was answered. */
  readonly item: InventoryItem;
  /** The version that the update took the place of, where that is known. */
  readonly replaced?: string | undefined;
}

/** What was answered to the requests of the last 24 hours that may come again. */
export interface RequestStore {
  /** The request whose update gave the entry this version; read consistently, for half a unit or one. */
  find(petId: bigint, version: string): Promise<AnsweredRequest | undefined>;
  /** One write unit. */
  put(request: AnsweredRequest): Promise<void>;
}

/** For as long as a client may send its request again. */
const LIFETIME_SECONDS = IDEMPOTENCY_HOURS * 60 * 60;

/** @param now the clock, in milliseconds since the epoch */
export function defineRequestStore(
  client: DynamoDBClient,
  tableName: string,
  now: () => number = Date.now,
): RequestStore {
  return {
    async find(petId, version) {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: tableName,
          KeyConditionExpression: 'p = :petId AND begins_with(r, :version)',
          ExpressionAttributeValues: {
            ':petId': { N: petId.toString() },
            ':version': { S: `${version}.` },
          },
          ConsistentRead: true,
        }),
      );
      // DynamoDB takes its time, up to some days, to delete what has expired.
      const found = Items.find(({ t }) => Number(t?.N) > now() / 1_000);
      if (found === undefined) return undefined;
      const { r, q, s, w } = found;
      return {
        fingerprint: String(r?.S),
        item: { petId, quantity: Number(q?.N), status: toStatus(String(s?.S)) },
        replaced: w?.S,
      };
    },

    async put({ fingerprint, item: { petId, quantity, status }, replaced }) {
      await client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: {
            p: { N: petId.toString() },
            r: { S: fingerprint },
            q: { N: quantity.toString() },
            s: { S: letterOf[status] },
            t: { N: String(Math.ceil(now() / 1_000) + LIFETIME_SECONDS) },
            ...(replaced !== undefined && { w: { S: replaced } }),
          },
        }),
      );
    },
  };
}
