import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { isThrottlingError } from '@smithy/core/retry';
import { NotFound, PreconditionFailed, StoreUnavailable } from '../contract/errors/errors.ts';
import { entryPetId } from '../contract/parameters/petIds.ts';
import type { InventoryItem } from '../contract/schemas/inventory.ts';
import type { PetStatus } from '../contract/values/petStatus.ts';
import { toCondition } from './inventoryCondition.ts';
import { toInventoryItem, toKey, toVersion, toVersionValue } from './inventoryRecord.ts';

export interface InventoryEntry {
  readonly item: InventoryItem;
  /** Names this state of the entry; opaque outside of the store. */
  readonly version: string;
}

/** What an update asks for. */
export interface Update {
  readonly petId: bigint;
  readonly quantity: number;
  /** The states of the entry that will do; any, without them. */
  readonly versions?: readonly string[] | undefined;
}

export interface Updated {
  readonly kind: 'updated';
  readonly item: InventoryItem;
  /** The version that the entry had before; `undefined` where that cannot be told. */
  readonly replaced: string | undefined;
}

/** The entry is in none of the states that would do. */
export interface Conflict {
  readonly kind: 'conflict';
  /** Whether this update changed nothing: otherwise an attempt had no answer, and others came after it. */
  readonly isCertain: boolean;
  /** The version and the status that the entry has now. */
  readonly current: string;
  readonly status: PetStatus;
}

/**
 * Sets an entry's stock count and version in one conditional write. The SDK repeats a call that was not
 * answered, although it may have taken effect; the condition of the next attempt then fails on the first
 * one's own version, by which it is told from somebody else's.
 * @throws {NotFound} when there is no such entry
 */
export async function updateEntry(
  client: DynamoDBClient,
  tableName: string,
  { petId, quantity, versions }: Update,
  version: string,
): Promise<Updated | Conflict> {
  const key = toKey(petId.toString());
  const condition = toCondition(versions);
  const values = {
    ...condition.values,
    ':quantity': { N: quantity.toString() },
    ':version': toVersionValue(version),
  };
  const command = new UpdateItemCommand({
    TableName: tableName,
    Key: key,
    UpdateExpression: 'SET q = :quantity, v = :version',
    ConditionExpression: condition.expression,
    ExpressionAttributeValues: values,
    ReturnValues: 'ALL_OLD',
  });
  const unanswered = { count: 0 };
  attempted.set(values, unanswered);
  try {
    const { Attributes: old = {} } = await client.send(command);
    const replaced = toVersion(old);
    return {
      kind: 'updated',
      item: { ...toInventoryItem(old), quantity },
      replaced: replaced === version ? undefined : replaced,
    };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
  const found = versions && (await readEntry(client, tableName, key));
  if (!found) throw new NotFound(entryPetId, petId);
  const current = toVersion(found);
  if (current === version) {
    return { kind: 'updated', item: toInventoryItem(found), replaced: toOnly(versions) };
  }
  const { status } = toInventoryItem(found);
  return { kind: 'conflict', isCertain: unanswered.count === 0, current, status };
}

/** The version that an update took the place of, where only one would do. */
export function toOnly(versions: readonly string[] = []): string | undefined {
  return versions.length === 1 ? versions[0] : undefined;
}

/** For a client whose update changed nothing. */
export function toConflict({ petId }: Update, { current }: Conflict): PreconditionFailed {
  return new PreconditionFailed(entryPetId, petId, current);
}

/** For a client whose update may have happened. */
export function toUnknown(): StoreUnavailable {
  return new StoreUnavailable(
    new Error('An update was not answered, and others came after it: it may have happened.'),
  );
}

async function readEntry(
  client: DynamoDBClient,
  tableName: string,
  key: Record<string, AttributeValue>,
): Promise<Record<string, AttributeValue> | undefined> {
  const read = new GetItemCommand({ TableName: tableName, Key: key, ConsistentRead: true });
  return (await client.send(read)).Item;
}

/**
 * By an update's values, the very object, which no other call has: of how many of its attempts nobody knows
 * whether they took effect.
 */
const attempted = new WeakMap<object, { count: number }>();

/**
 * Has a client count those attempts. Of the client and not of each command, whose middleware a client that
 * caches would not know.
 */
export function watchAttempts({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) =>
      async function watchAttempt(args) {
        try {
          return await next(args);
        } catch (error) {
          const { ExpressionAttributeValues } = args.input as Partial<UpdateItemCommandInput>;
          const unanswered = ExpressionAttributeValues && attempted.get(ExpressionAttributeValues);
          const isAnswer =
            error instanceof ConditionalCheckFailedException || isThrottlingError(error as never);
          if (unanswered && !isAnswer) unanswered.count += 1;
          throw error;
        }
      },
    // Within the SDK's retries, which run in the same step at a higher priority. A client may have several users.
    { step: 'finalizeRequest', priority: 'low', name: 'watchAttempt', override: true },
  );
}
