import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { NotFound, PreconditionFailed } from '../contract/errors.ts';
import type { InventoryItem } from '../contract/inventory.ts';
import { parseVersion, toInventoryItem, toInventoryJson, toVersion } from './inventoryRecord.ts';

export interface InventoryEntry {
  readonly item: InventoryItem;
  /** Changes with every update; opaque outside the store. */
  readonly version: string;
}

export interface InventoryStore {
  /** Every entry once: each page as InventoryItems in JSON, separated by commas. Empty pages are left out. */
  pages(): AsyncGenerator<string, void, undefined>;
  /**
   * Sets the stock count of an entry that exists; where versions are given, only of one that is in one
   * of those states.
   * @throws {NotFound} when there is no such entry
   * @throws {PreconditionFailed} when there is, in another state
   */
  setQuantity(
    petId: bigint,
    quantity: number,
    versions?: readonly string[],
  ): Promise<InventoryEntry>;
}

export function defineInventoryStore(client: DynamoDBClient, tableName: string): InventoryStore {
  async function exists(key: Record<string, AttributeValue>): Promise<boolean> {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: tableName, Key: key, ConsistentRead: true }),
    );
    return Item !== undefined;
  }

  return {
    async *pages() {
      let next: Record<string, AttributeValue> | undefined;
      do {
        const { Items = [], LastEvaluatedKey } = await client.send(
          new ScanCommand({ TableName: tableName, ExclusiveStartKey: next }),
        );
        if (Items.length > 0) yield Items.map(toInventoryJson).join(',');
        next = LastEvaluatedKey;
      } while (next);
    },

    async setQuantity(petId, quantity, versions) {
      const key = { p: { N: petId.toString() } };
      const condition = toCondition(versions);
      try {
        const { Attributes = {} } = await client.send(
          new UpdateItemCommand({
            TableName: tableName,
            Key: key,
            UpdateExpression: 'SET q = :quantity ADD v :one',
            ConditionExpression: condition.expression,
            ExpressionAttributeValues: {
              ...condition.values,
              ':quantity': { N: quantity.toString() },
              ':one': { N: '1' },
            },
            ReturnValues: 'ALL_NEW',
          }),
        );
        return { item: toInventoryItem(Attributes), version: toVersion(Attributes) };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        if (versions && (await exists(key))) throw new PreconditionFailed(petId);
        throw new NotFound('inventory entry', petId);
      }
    },
  };
}

/** That the entry exists and, where versions are given, is in one of those states. */
function toCondition(versions: readonly string[] | undefined): {
  expression: string;
  values: Record<string, AttributeValue>;
} {
  if (!versions) return { expression: 'attribute_exists(p)', values: {} };
  const values: Record<string, AttributeValue> = {};
  const states = versions.map((version, index) => {
    const state = parseVersion(version);
    if (!state) return NO_STATE;
    values[`:q${index}`] = state.q;
    values[`:s${index}`] = state.s;
    if (state.v) values[`:v${index}`] = state.v;
    const counted = state.v ? `v = :v${index}` : 'attribute_not_exists(v)';
    return `(q = :q${index} AND s = :s${index} AND ${counted})`;
  });
  return { expression: states.join(' OR ') || NO_STATE, values };
}

/** For a version that this store never gave: true of no entry. */
const NO_STATE = '(attribute_exists(p) AND attribute_not_exists(p))';
