import { createHash } from 'node:crypto';
import {
  type AttributeValue,
  type CancellationReason,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  TransactionCanceledException,
  TransactionConflictException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { isThrottlingError } from '@smithy/core/retry';
import { NotFound, PreconditionFailed, StoreUnavailable } from '../contract/errors.ts';
import { IDEMPOTENCY_HOURS } from '../contract/headers.ts';
import { entryPetId } from '../contract/parameters.ts';
import type { InventoryItem } from '../contract/schemas.ts';
import {
  letterOf,
  newVersion,
  toCondition,
  toInventoryItem,
  toKey,
  toStatus,
  toVersion,
  toVersionValue,
} from './inventoryRecord.ts';

export interface InventoryEntry {
  readonly item: InventoryItem;
  /** Names this state of the entry; opaque outside of the store. */
  readonly version: string;
}

/** What an update asks for. */
export interface Update {
  readonly petId: bigint;
  readonly quantity: number;
  /** The versions of the entry that the update may replace; any, without them. */
  readonly versions?: readonly string[] | undefined;
}

/** @param requestsTable keeps the answers to requests with an idempotency key */
export function defineInventoryUpdates(
  client: DynamoDBClient,
  tableName: string,
  requestsTable: string,
) {
  countUnansweredAttempts(client);

  async function readEntry(petId: bigint, ConsistentRead: boolean) {
    const Key = toKey(petId.toString());
    const read = new GetItemCommand({ TableName: tableName, Key, ConsistentRead });
    return (await client.send(read)).Item;
  }

  /**
   * One conditional write, and where its condition fails one read. The SDK repeats a call that was not answered,
   * although it may have taken effect: the next attempt's condition then fails on the first one's own version.
   */
  async function setOnce(update: Update): Promise<InventoryEntry> {
    const { petId, quantity, versions } = update;
    const version = newVersion();
    const change = toChange(update, version);
    const attempts = { unanswered: 0 };
    attemptsOf.set(change.ExpressionAttributeValues, attempts);
    try {
      const input = { TableName: tableName, ...change, ReturnValues: 'ALL_OLD' } as const;
      const set = () => client.send(new UpdateItemCommand(input));
      const { Attributes: old = {} } = await repeatConflicts(set);
      return { item: { ...toInventoryItem(old), quantity }, version };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
    const found = versions && (await readEntry(petId, true));
    if (!found) throw new NotFound(entryPetId, petId);
    const current = toVersion(found);
    if (current === version) return { item: toInventoryItem(found), version };
    if (attempts.unanswered > 0) {
      throw new StoreUnavailable(new Error('An unanswered attempt may have had its effect.'));
    }
    throw new PreconditionFailed(entryPetId, petId, current);
  }

  /**
   * One transaction writes the request's row, which holds the answer, and the entry: both or neither. Where it is
   * cancelled, its reasons tell why. A transaction returns no attributes, so the entry's status, which is part of
   * the answer, is read before, and the transaction is held to it.
   * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
   */
  async function setIdempotently(update: Update, idempotencyKey: string): Promise<InventoryEntry> {
    const { petId, quantity, versions } = update;
    const request = { p: { N: petId.toString() }, r: { S: toFingerprint(update, idempotencyKey) } };

    /** @param status the letter of the entry's, as far as it is known */
    async function transact(status = letterOf.available): Promise<InventoryEntry> {
      const version = newVersion();
      const seconds = Math.floor(Date.now() / 1_000);
      const Put = {
        TableName: requestsTable,
        Item: {
          ...request,
          s: { S: status },
          v: toVersionValue(version),
          t: { N: String(seconds + IDEMPOTENCY_HOURS * 60 * 60) },
        },
        // DynamoDB takes its time, up to some days, to delete what has expired.
        ConditionExpression: 'attribute_not_exists(r) OR t <= :now',
        ExpressionAttributeValues: { ':now': { N: String(seconds) } },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      } as const;
      const Update = {
        TableName: tableName,
        ...toChange(update, version, status),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      } as const;
      try {
        await repeatConflicts(() =>
          client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put }, { Update }] })),
        );
        return { item: { petId, quantity, status: toStatus(status) }, version };
      } catch (error) {
        const [answered, entry] = toReasons(error);
        if (answered?.Item) {
          const { s, v } = answered.Item as { s: AttributeValue.SMember; v: AttributeValue };
          return { item: { petId, quantity, status: toStatus(s.S) }, version: toVersion({ v }) };
        }
        if (entry?.Code !== CONDITION_FAILED) throw error;
        if (!entry.Item) throw new NotFound(entryPetId, petId);
        const current = toVersion(entry.Item);
        if (versions && !versions.includes(current)) {
          throw new PreconditionFailed(entryPetId, petId, current);
        }
        // Only its status has changed since it was read.
        return transact(letterOf[toInventoryItem(entry.Item).status]);
      }
    }

    // As it is, or was a moment ago: the transaction is cancelled where its status is another by now.
    const found = await readEntry(petId, false);
    return transact(found && letterOf[toInventoryItem(found).status]);
  }

  return {
    /**
     * Sets the stock count of an entry that exists; where versions are given, only of one that has one of them.
     * @param idempotencyKey names the request among all that were ever sent: the same request again within
     *   24 hours has no second effect and gets the first answer
     * @throws {NotFound} when there is no such entry
     * @throws {PreconditionFailed} when the entry has another version, and this request changed nothing
     * @throws {StoreUnavailable} also when nobody can tell whether this request changed the entry
     */
    setQuantity: (update: Update, idempotencyKey?: string) =>
      idempotencyKey === undefined ? setOnce(update) : setIdempotently(update, idempotencyKey),
  };
}

/** @param status what the entry's status must be; any, without it */
function toChange({ petId, quantity, versions }: Update, version: string, status?: string) {
  const conditions = versions?.flatMap((text, index) => toCondition(text, index) ?? []) ?? [
    { expression: 'attribute_exists(p)', values: {} },
  ];
  const terms = conditions.map(({ expression }) => expression);
  if (terms.length === 0) terms.push('attribute_exists(p) AND attribute_not_exists(p)');
  return {
    Key: toKey(petId.toString()),
    UpdateExpression: 'SET q = :quantity, v = :version',
    // AND binds more tightly than OR, and DynamoDB refuses parentheses that it does not need.
    ConditionExpression: terms
      .map((term) => (status === undefined ? term : `s = :status AND ${term}`))
      .join(' OR '),
    ExpressionAttributeValues: {
      ...Object.assign({}, ...conditions.map(({ values }) => values)),
      ...(status !== undefined && { ':status': { S: status } }),
      ':quantity': { N: quantity.toString() },
      ':version': toVersionValue(version),
    } as Record<string, AttributeValue>,
  };
}

/** The same request has the same fingerprint, and no other request has it. */
function toFingerprint({ petId, quantity, versions }: Update, idempotencyKey: string): string {
  const request = JSON.stringify([idempotencyKey, `${petId}`, quantity, versions ?? null]);
  return createHash('sha256').update(request).digest('base64url');
}

const CONDITION_FAILED = 'ConditionalCheckFailed';
/** Why DynamoDB cancels a transaction that can succeed a moment later. */
const passing = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];
const MAX_ATTEMPTS = 5;

/**
 * Sends a write again that met a transaction on the same item, and so changed nothing. The pauses take at most
 * 750 ms together.
 * @throws {StoreUnavailable} when the last attempt meets one too
 */
async function repeatConflicts<Output>(send: () => Promise<Output>): Promise<Output> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (attempt === MAX_ATTEMPTS) throw new StoreUnavailable(error);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 25 * 2 ** attempt));
    }
  }
}

function isConflict(error: unknown): boolean {
  const codes = toReasons(error).map(({ Code }) => String(Code));
  // A request that is answered already has its answer, whatever else is at work on the entry.
  const isCanceled = codes[0] !== CONDITION_FAILED && codes.some((code) => passing.includes(code));
  return isCanceled || error instanceof TransactionConflictException;
}

/** Why each item of a transaction canceled it; nothing for any other error. */
function toReasons(error: unknown): CancellationReason[] {
  return (error instanceof TransactionCanceledException && error.CancellationReasons) || [];
}

/** By an update's values, the very object, which no other call has: how many of its attempts had no answer. */
const attemptsOf = new WeakMap<object, { unanswered: number }>();

/** Has a client count them, since a client that caches its middleware would not know a command's own. */
function countUnansweredAttempts({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) =>
      async function countUnanswered(args) {
        try {
          return await next(args);
        } catch (error) {
          const { ExpressionAttributeValues } = args.input as Partial<UpdateItemCommandInput>;
          const attempts = ExpressionAttributeValues && attemptsOf.get(ExpressionAttributeValues);
          const isAnswer =
            error instanceof ConditionalCheckFailedException ||
            error instanceof TransactionConflictException ||
            isThrottlingError(error as never);
          if (attempts && !isAnswer) attempts.unanswered += 1;
          throw error;
        }
      },
    // Within the SDK's retries, which run in the same step at a higher priority. A client may have several users.
    { step: 'finalizeRequest', priority: 'low', name: 'countUnanswered', override: true },
  );
}
