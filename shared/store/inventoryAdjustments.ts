import { createHash } from 'node:crypto';
import {
  type AttributeValue,
  type CancellationReason,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { type Refusal, type RefusalCode, refusalCodes } from '../contract/errorBody.ts';
import { AdjustmentRefused, IdempotencyKeyReused, StoreUnavailable } from '../contract/errors.ts';
import { OUTCOME_DAYS } from '../contract/headers.ts';
import type { InventoryAdjustment } from '../contract/inventoryAdjustment.ts';
import { parseJson, toJson } from '../contract/json.ts';
import type { InventoryItem } from '../contract/schemas.ts';
import { MAX_QUANTITY } from '../contract/values.ts';
import { CONDITION_FAILED, readReasons, repeatConflicts, StateChanged } from './conflicts.ts';
import { readInventoryRecords } from './inventoryEntry.ts';
import {
  letterOf,
  newVersion,
  toInventoryItem,
  toKey,
  toUpdateVersion,
  toVersionValue,
} from './inventoryRecord.ts';

export interface AdjustmentResult {
  /** The entries after the adjustment, in the order of the adjustments, without those that no longer exist. */
  readonly items: readonly InventoryItem[];
  /** Whether an earlier request with the key took effect, and this one changed nothing. */
  readonly isReplay: boolean;
}

/** @param requestsTable stores the outcome of each key */
export function defineInventoryAdjustments(
  client: DynamoDBClient,
  tableName: string,
  requestsTable: string,
) {
  return {
    /**
     * Adds each delta to the stock count of its pet, all or none. It never creates an entry or changes a status.
     * @param adjustments 1 to 10, each of another pet
     * @param idempotencyKey has one outcome, which is kept for 30 days: this effect, or a refusal
     * @throws {AdjustmentRefused} that outcome; nothing changed
     * @throws {IdempotencyKeyReused} if other adjustments had the key; nothing changed
     * @throws {StoreUnavailable} also if it is unknown whether it took effect; the message says so if it did
     */
    async adjust(
      adjustments: readonly InventoryAdjustment[],
      idempotencyKey: string,
    ): Promise<AdjustmentResult> {
      const row = defineRequestRow(requestsTable, adjustments, idempotencyKey);
      const isReplay = await decide(client, tableName, adjustments, row);
      const petIds = adjustments.map(({ petId }) => petId);
      try {
        const records = await readInventoryRecords(client, tableName, petIds, true);
        return { items: records.map(toInventoryItem), isReplay };
      } catch (cause) {
        throw new StoreUnavailable(cause, false, APPLIED);
      }
    },
  };
}

const APPLIED =
  'The adjustment was applied, but the entries after it could not be read: read them, or send the same request again.';

/**
 * One transaction changes the entries and writes the request's row, or nothing. If it is cancelled, its reasons say
 * why. The row goes first: if it is there, it is the outcome. A refusal is written as the row too, so that no attempt
 * that still repeats can sell what its retry was refused.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 * @returns whether it is a replay
 */
async function decide(
  client: DynamoDBClient,
  tableName: string,
  adjustments: readonly InventoryAdjustment[],
  { version, buildPut, readOutcome }: ReturnType<typeof defineRequestRow>,
): Promise<boolean> {
  async function transact(): Promise<boolean> {
    const Put = { ...buildPut(), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
    const updates = adjustments.map((adjustment) => ({
      Update: {
        TableName: tableName,
        ...toChange(adjustment, version),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      } as const,
    }));
    try {
      await client.send(new TransactWriteItemsCommand({ TransactItems: [...updates, { Put }] }));
      return false;
    } catch (error) {
      const reasons = readReasons(error);
      const request = reasons.at(-1);
      if (request?.Item) return readOutcome(request.Item);
      // While a first transaction commits, its duplicate may see its row in conflict, and an entry without its units.
      const refusal = request?.Code === 'None' && findRefusal(adjustments, reasons);
      if (!refusal) throw error;
      await storeRefusal(refusal);
      throw refusal;
    }
  }

  async function storeRefusal(refusal: AdjustmentRefused): Promise<void> {
    try {
      await client.send(new PutItemCommand(buildPut(refusal)));
    } catch (error) {
      // Another attempt was faster: its row is the outcome, which the next transaction reads.
      throw error instanceof ConditionalCheckFailedException ? new StateChanged() : error;
    }
  }

  return repeatConflicts(transact);
}

/** The row of a request: this adjustment under this key. */
function defineRequestRow(
  requestsTable: string,
  adjustments: readonly InventoryAdjustment[],
  idempotencyKey: string,
) {
  const version = newVersion();
  const key = buildRequestKey(idempotencyKey);
  const deltas = toDeltas(adjustments);

  return {
    /** The new version of the entries. */
    version,

    /**
     * Puts the row, unless another one is there that has not expired: DynamoDB may take some days to delete expired items.
     * @param refusal unless the adjustment takes effect
     */
    buildPut(refusal?: AdjustmentRefused) {
      const seconds = Math.floor(Date.now() / 1_000);
      const now = { N: String(seconds) };
      return {
        TableName: requestsTable,
        Item: {
          ...key,
          d: { S: deltas },
          v: toVersionValue(version),
          w: now,
          t: { N: String(seconds + OUTCOME_DAYS * 24 * 60 * 60) },
          ...(refusal && {
            c: { S: refusal.code },
            m: { S: refusal.message },
            e: { S: toJson(refusal.refused) },
          }),
        },
        ConditionExpression: 'attribute_not_exists(r) OR t <= :now',
        ExpressionAttributeValues: { ':now': now },
      };
    },

    /**
     * @returns whether it is a replay
     * @throws {AdjustmentRefused} if that is the outcome
     */
    readOutcome({ d, v, c, m, e }: Record<string, AttributeValue>): boolean {
      if (d?.S !== deltas) {
        throw new IdempotencyKeyReused(
          'This Idempotency-Key was used for another adjustment: send that one again to learn its outcome, or use a new key for a new adjustment.',
        );
      }
      // An attempt of this very request may have written it, and lost its response.
      const isReplay = toUpdateVersion(v as AttributeValue.BMember) !== version;
      if (c?.S) {
        throw new AdjustmentRefused(c.S as RefusalCode, m?.S ?? '', parseRefused(e?.S), isReplay);
      }
      return isReplay;
    },
  };
}

/**
 * The key of a request's row. Rows of updates have their pet as `p`, and a digest of one text as `r`: a digest of two is
 * another. Part of the digest as `p` spreads the requests over all partitions.
 */
function buildRequestKey(idempotencyKey: string) {
  const hash = createHash('sha256').update(JSON.stringify(['adjustment', idempotencyKey]));
  const digest = hash.digest();
  return {
    p: { N: digest.readBigInt64BE().toString() },
    r: { S: digest.toString('base64url') },
  };
}

/** The same for the same deltas of the same pets in any order, such as `7:-1,9:-2`. */
function toDeltas(adjustments: readonly InventoryAdjustment[]): string {
  return adjustments
    .map(({ petId, delta }) => `${petId}:${delta}`)
    .sort()
    .join();
}

function toChange({ petId, delta }: InventoryAdjustment, version: string) {
  const isSale = delta < 0;
  return {
    Key: toKey(petId.toString()),
    UpdateExpression: 'SET q = q + :delta, v = :version',
    ConditionExpression: isSale ? 's = :available AND q >= :limit' : 'q <= :limit',
    ExpressionAttributeValues: {
      ':delta': { N: String(delta) },
      ':version': toVersionValue(version),
      ':limit': { N: String(isSale ? -delta : MAX_QUANTITY - delta) },
      ...(isSale && { ':available': { S: letterOf.available } }),
    } as Record<string, AttributeValue>,
  };
}

/** Why the entries refused it; undefined if none of them did. */
function findRefusal(
  adjustments: readonly InventoryAdjustment[],
  reasons: readonly CancellationReason[],
): AdjustmentRefused | undefined {
  const explained = adjustments.flatMap((adjustment, index) => {
    const { Code, Item } = reasons[index] ?? {};
    return Code === CONDITION_FAILED ? explain(adjustment, Item && toInventoryItem(Item)) : [];
  });
  const refused = explained.map(({ refusal }) => refusal);
  const code = refusalCodes.find((one) => refused.some((refusal) => refusal.code === one));
  const problems = explained.map(({ problem }) => problem).join('; ');
  return code && new AdjustmentRefused(code, `No stock count has changed: ${problems}.`, refused);
}

function explain(
  { petId, delta }: InventoryAdjustment,
  item: InventoryItem | undefined,
): { refusal: Refusal; problem: string } {
  if (!item) {
    return {
      refusal: { petId, code: 'not_found' },
      problem: `there is no inventory entry with petId ${petId}`,
    };
  }
  const { quantity, status } = item;
  if (delta > 0) {
    return {
      refusal: { petId, code: 'quantity_out_of_range', quantity },
      problem: `petId ${petId} has quantity ${quantity} (to add: ${delta}), and the maximum is ${MAX_QUANTITY}`,
    };
  }
  const problem = `quantity ${quantity} (asked for: ${-delta})`;
  return status === 'available'
    ? {
        refusal: { petId, code: 'insufficient_stock', quantity },
        problem: `petId ${petId} has ${problem}`,
      }
    : {
        refusal: { petId, code: 'not_for_sale', quantity, status },
        problem: `petId ${petId} has status "${status}" and ${problem}`,
      };
}

/** Undefined in an outcome that release 2.0 stored. */
function parseRefused(text: string | undefined): Refusal[] | undefined {
  if (text === undefined) return undefined;
  const refused = parseJson(text) as (Omit<Refusal, 'petId'> & { petId: number | bigint })[];
  return refused.map((refusal) => ({ ...refusal, petId: BigInt(refusal.petId) }));
}
