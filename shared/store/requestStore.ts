import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { IDEMPOTENCY_HOURS } from '../contract/headerLimits.ts';
import type { InventoryItem } from '../contract/schemas/inventory.ts';
import { letterOf, toStatus } from './inventoryRecord.ts';

/** An update that was sent with an `Idempotency-Key`, from its first attempt on. */
export interface KnownRequest {
  /** Tells the request from every other one, and begins with the version that its update gives the entry. */
  readonly fingerprint: string;
  /** What it was answered, once it succeeded. */
  readonly item?: InventoryItem | undefined;
  /** The version that the update took the place of, where that is known. */
  readonly replaced?: string | undefined;
  /** When the attempt that is at work began, in milliseconds; or how the last one ended. */
  readonly attempt: number;
}

/** A request that succeeded. */
export interface AnsweredRequest extends Omit<KnownRequest, 'attempt'> {
  readonly item: InventoryItem;
}

/** How an attempt that is over has ended: it changed nothing, or nobody knows. */
export const ended = { withoutEffect: 0, unknown: 1 } as const;

/** What is known of the requests of the last 24 hours that may come again. */
export interface RequestStore {
  /**
   * Notes that an attempt begins, before it has any effect; one write unit.
   * @param seen the attempt that the request is known by, where it is; otherwise the request must be new, or
   *   its attempts have had no effect
   * @returns what is known of the request where that does not hold: nothing is noted then
   */
  begin(
    petId: bigint,
    version: string,
    fingerprint: string,
    seen?: number,
  ): Promise<KnownRequest | undefined>;
  /** Notes how an attempt ended that did not succeed; one write unit. */
  end(petId: bigint, fingerprint: string, how: keyof typeof ended): Promise<void>;
  /** The request whose update gives the entry this version; read consistently, for half a unit or one. */
  find(petId: bigint, version: string): Promise<KnownRequest | undefined>;
  /** Writes down what a request was answered; one write unit. */
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
  function toRecord(petId: bigint, fingerprint: string) {
    return {
      p: { N: petId.toString() },
      r: { S: fingerprint },
      t: { N: String(Math.ceil(now() / 1_000) + LIFETIME_SECONDS) },
    };
  }

  /** Of a note that may have been taken, or not. Where this fails too, the request waits until its time is over. */
  async function withdraw(petId: bigint, fingerprint: string, attempt: string): Promise<void> {
    const command = new PutItemCommand({
      TableName: tableName,
      Item: { ...toRecord(petId, fingerprint), a: { N: String(ended.withoutEffect) } },
      ConditionExpression: 'a = :attempt',
      ExpressionAttributeValues: { ':attempt': { N: attempt } },
    });
    await client.send(command).catch(() => {});
  }

  const store: RequestStore = {
    async begin(petId, version, fingerprint, seen = ended.withoutEffect) {
      // A fraction of its own tells this attempt from others of the same millisecond.
      const attempt = (now() + Math.random()).toFixed(3);
      const Item = { ...toRecord(petId, fingerprint), a: { N: attempt } };
      const command = new PutItemCommand({
        TableName: tableName,
        Item,
        // DynamoDB takes its time, up to some days, to delete what has expired.
        ConditionExpression: 'attribute_not_exists(r) OR a = :seen OR t <= :now',
        ExpressionAttributeValues: {
          ':seen': { N: String(seen) },
          ':now': { N: String(Math.floor(now() / 1_000)) },
        },
      });
      try {
        await client.send(command);
        return undefined;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) {
          await withdraw(petId, fingerprint, attempt);
          throw error;
        }
      }
      const found = await store.find(petId, version);
      // The SDK repeats a call whose answer was lost, and then meets its own first try.
      return found?.attempt === Number(attempt) ? undefined : found;
    },

    async end(petId, fingerprint, how) {
      const Item = { ...toRecord(petId, fingerprint), a: { N: String(ended[how]) } };
      await client.send(new PutItemCommand({ TableName: tableName, Item }));
    },

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
      const found = Items.find(({ t }) => Number(t?.N) > now() / 1_000);
      if (found === undefined) return undefined;
      const { r, q, s, w, a } = found;
      return {
        fingerprint: String(r?.S),
        item: q && { petId, quantity: Number(q.N), status: toStatus(String(s?.S)) },
        replaced: w?.S,
        attempt: Number(a?.N ?? ended.unknown),
      };
    },

    async put({ fingerprint, item: { petId, quantity, status }, replaced }) {
      await client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: {
            ...toRecord(petId, fingerprint),
            q: { N: quantity.toString() },
            s: { S: letterOf[status] },
            ...(replaced !== undefined && { w: { S: replaced } }),
          },
        }),
      );
    },
  };
  return store;
}
