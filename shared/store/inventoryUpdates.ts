import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  TransactionConflictException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { isThrottlingError } from '@smithy/core/retry';
import {
  IdempotencyKeyReused,
  NotFound,
  PreconditionFailed,
  StoreUnavailable,
} from '../contract/errors.ts';
import { IDEMPOTENCY_HOURS } from '../contract/headers.ts';
import { entryPetId } from '../contract/parameters.ts';
import type { PetStatus } from '../contract/values.ts';
import {
  CONDITION_FAILED,
  isConflict,
  readReasons,
  repeatConflicts,
  StateChanged,
} from './conflicts.ts';
import { type InventoryEntry, readInventoryEntry } from './inventoryEntry.ts';
import {
  buildCondition,
  letterOf,
  newVersion,
  readPetStatus,
  readVersion,
  toKey,
  toUpdateVersion,
  toVersionValue,
} from './inventoryRecord.ts';
import { buildRequestPut, nowInSeconds } from './requestRow.ts';

export interface Update {
  readonly petId: bigint;
  readonly quantity: number;
  /** The versions of the entry that the update may replace; undefined means any. */
  readonly versions?: readonly string[] | undefined;
}

export interface UpdateResult extends InventoryEntry {
  /** Whether it is the response of an earlier attempt, and this one changed nothing. */
  readonly isReplay?: boolean;
}

/** @param requestsTable stores the responses to requests with an idempotency key */
export function defineInventoryUpdates(
  client: DynamoDBClient,
  tableName: string,
  requestsTable: string,
) {
  countLostAttempts(client);

  const readEntry = (petId: bigint) => readInventoryEntry(client, tableName, petId);

  /**
   * One conditional write, and one read if its condition fails. The SDK retries a call without a response, although
   * the call may have taken effect. Then the retry's condition fails because of the first attempt's own version.
   */
  async function setOnce(update: Update): Promise<InventoryEntry> {
    const { petId, quantity, versions } = update;
    const version = newVersion();
    const change = toChange(update, version);
    const attempts = { lost: 0 };
    try {
      const input = { TableName: tableName, ...change, ReturnValues: 'ALL_OLD' } as const;
      const set = () => client.send(new UpdateItemCommand(input));
      const { Attributes: old = {} } = await updateAttempts.run(attempts, repeatConflicts, set);
      return { item: { petId, quantity, status: readPetStatus(old) }, version };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
    const found = versions && (await readEntry(petId));
    if (!found) throw new NotFound(entryPetId, petId);
    if (found.version === version) return found;
    if (attempts.lost > 0) {
      throw new StoreUnavailable(new Error('An attempt without a response may have taken effect.'));
    }
    throw new PreconditionFailed(entryPetId, petId, found.version);
  }

  /**
   * One transaction writes both the entry and the request's row with the response, or neither. If it is cancelled, its
   * reasons say why. A transaction returns no attributes, and the response needs the entry's status. So it requires
   * the most frequent status, and after a wrong guess the one that the reasons show.
   * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
   */
  async function setIdempotently(update: Update, idempotencyKey: string) {
    const { petId, quantity, versions = null } = update;
    const fingerprint = computeDigest([quantity, versions]);
    const requestKey = { p: { N: petId.toString() }, r: { S: computeDigest([idempotencyKey]) } };
    let status: PetStatus = 'available';
    let hasConflicted = false;

    /** The first response, if the row is of the same request. */
    function readReplay(row: Row | undefined): UpdateResult | undefined {
      if (row?.f?.S !== fingerprint) return undefined;
      const { v } = row as { v: AttributeValue.BMember };
      const item = { petId, quantity, status: readPetStatus(row) };
      return { item, version: toUpdateVersion(v), isReplay: true };
    }

    /**
     * The outcome after a conflict, if the entry has changed. Another transaction would then only hold up others. No
     * version comes back, so no attempt that is still on its way can take effect.
     */
    async function findOutcome(): Promise<UpdateResult | undefined> {
      const found = versions && (await readEntry(petId));
      if (!found) return undefined;
      status = found.item.status;
      if (versions.includes(found.version)) return undefined;
      const key = { TableName: requestsTable, Key: requestKey };
      const { Item } = await client.send(new GetItemCommand({ ...key, ConsistentRead: true }));
      const replay = Number(Item?.t?.N) > nowInSeconds() ? readReplay(Item) : undefined;
      if (replay) return replay;
      throw new PreconditionFailed(entryPetId, petId, found.version);
    }

    async function transact(): Promise<UpdateResult> {
      const outcome = hasConflicted ? await findOutcome() : undefined;
      if (outcome) return outcome;
      const version = newVersion();
      const row = {
        ...requestKey,
        f: { S: fingerprint },
        s: { S: letterOf[status] },
        v: toVersionValue(version),
      };
      const Put = {
        ...buildRequestPut(requestsTable, row, nowInSeconds(), IDEMPOTENCY_HOURS * 60 * 60),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      } as const;
      const Update = {
        TableName: tableName,
        ...toChange(update, version, letterOf[status]),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      } as const;
      try {
        await client.send(new TransactWriteItemsCommand({ TransactItems: [{ Update }, { Put }] }));
        return { item: { petId, quantity, status }, version };
      } catch (error) {
        const [entry, request] = readReasons(error);
        const replay = readReplay(request?.Item);
        if (replay) return replay;
        if (!request?.Item) {
          hasConflicted = isConflict(error);
          if (hasConflicted || entry?.Code !== CONDITION_FAILED) throw error;
        }
        if (entry?.Code === CONDITION_FAILED) {
          if (!entry.Item) throw new NotFound(entryPetId, petId);
          const current = readVersion(entry.Item);
          if (versions && !versions.includes(current)) {
            throw new PreconditionFailed(entryPetId, petId, current);
          }
          status = readPetStatus(entry.Item);
        }
        throw request?.Item
          ? new IdempotencyKeyReused(
              `This Idempotency-Key was used for another update of petId ${petId}, which took effect: use a new key for a new update.`,
            )
          : new StateChanged();
      }
    }

    return repeatConflicts(transact);
  }

  return {
    /**
     * Sets the stock count of an existing entry; with versions, only if the entry has one of them.
     * @param idempotencyKey unique to a client's request, which has one effect and one response within 24 hours
     * @throws {NotFound} if there is no such entry
     * @throws {PreconditionFailed} if the entry has another version; this request changed nothing
     * @throws {IdempotencyKeyReused} if another request for this entry had the key; this request changed nothing
     * @throws {StoreUnavailable} also if it is unknown whether this request changed the entry
     */
    setQuantity(update: Update, idempotencyKey?: string): Promise<UpdateResult> {
      if (idempotencyKey === undefined) return setOnce(update);
      return setIdempotently(update, idempotencyKey);
    },
  };
}

/** @param status the required status of the entry; undefined means any */
function toChange({ petId, quantity, versions }: Update, version: string, status?: string) {
  const conditions = versions?.flatMap((text, index) => buildCondition(text, index) ?? []) ?? [
    { expression: 'attribute_exists(p)', values: {} },
  ];
  const terms = conditions.map(({ expression }) => expression);
  if (terms.length === 0) terms.push('attribute_exists(p) AND attribute_not_exists(p)');
  return {
    Key: toKey(petId.toString()),
    UpdateExpression: 'SET q = :quantity, v = :version',
    // AND binds more tightly than OR, and DynamoDB rejects redundant parentheses.
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

type Row = Record<string, AttributeValue>;

/** Only the same values have the same digest. */
function computeDigest(values: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64url');
}

/** Counts the current update's attempts without a response. */
const updateAttempts = new AsyncLocalStorage<{ lost: number }>();

/** Counts them in the client: one that caches its middleware would ignore a command's own. */
function countLostAttempts({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) =>
      async function countLost(args) {
        try {
          return await next(args);
        } catch (error) {
          const attempts = updateAttempts.getStore();
          const isResponse =
            error instanceof ConditionalCheckFailedException ||
            error instanceof TransactionConflictException ||
            isThrottlingError(error as never);
          if (attempts && !isResponse) attempts.lost += 1;
          throw error;
        }
      },
    // Inside the SDK's retries, which have a higher priority in this step. Several stores may share a client.
    { step: 'finalizeRequest', priority: 'low', name: 'countLost', override: true },
  );
}
