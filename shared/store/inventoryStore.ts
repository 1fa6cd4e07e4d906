import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { NotFound, PreconditionFailed } from '../contract/errors/errors.ts';
import { entryPetId } from '../contract/parameters/petIds.ts';
import type { InventoryItem } from '../contract/schemas/inventory.ts';
import { parseInt64 } from '../contract/values/parseInt64.ts';
import type { PetStatus } from '../contract/values/petStatus.ts';
import { openCursor, type Page, type PageRequest, sealCursor } from './cursor.ts';
import { toCondition } from './inventoryCondition.ts';
import { letterOf, toInventoryItem, toVersion } from './inventoryRecord.ts';
import { scanPage } from './scanPage.ts';

export interface InventoryEntry {
  readonly item: InventoryItem;
  /** Changes with every update; opaque outside the store. */
  readonly version: string;
}

/** A part of the whole list. */
export interface InventoryPage {
  /** Entries as InventoryItems in JSON, separated by commas. */
  readonly items: Buffer;
  readonly isLast: boolean;
}

export interface InventoryStore {
  /** Every entry once, or every one with the status; a last page comes even when it is empty. */
  pages(status?: PetStatus): AsyncGenerator<InventoryPage, void, undefined>;
  /**
   * At most `limit` entries, from the start or from where a cursor says.
   * @throws {InvalidRequest} when the cursor is not one that this store gave
   */
  page(request: PageRequest & { status?: PetStatus | undefined }): Promise<Page<InventoryItem>>;
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
    async *pages(status) {
      const filter = toFilter(status);
      let page = await scanPage(client, { TableName: tableName, ...filter });
      for (;;) {
        const { items, next } = page;
        // Read while the page before it is on its way to the client.
        const reading =
          next && scanPage(client, { TableName: tableName, ExclusiveStartKey: next, ...filter });
        reading?.catch(() => {});
        if (items.length > 0 || !reading) yield { items, isLast: !reading };
        if (!reading) return;
        page = await reading;
      }
    },

    async page({ limit, cursor, status }) {
      const found: Record<string, AttributeValue>[] = [];
      let next = cursor === undefined ? undefined : toKey(openCursor(tableName, cursor, isPetId));
      do {
        const { Items = [], LastEvaluatedKey } = await client.send(
          new ScanCommand({
            TableName: tableName,
            ExclusiveStartKey: next,
            // A filter is applied after the limit, so a filtered page looks further at once.
            Limit: status === undefined ? limit : Math.max(limit, FILTERED_LIMIT),
            ...toFilter(status),
          }),
        );
        found.push(...Items);
        next = LastEvaluatedKey;
      } while (next && found.length < limit);
      const records = found.slice(0, limit);
      const last = found.length > limit ? records.at(-1)?.p?.N : next?.p?.N;
      return {
        items: records.map(toInventoryItem),
        ...(last !== undefined && { next: sealCursor(tableName, last) }),
      };
    },

    async setQuantity(petId, quantity, versions) {
      const key = toKey(petId.toString());
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
        if (versions && (await exists(key))) throw new PreconditionFailed(entryPetId, petId);
        throw new NotFound(entryPetId, petId);
      }
    },
  };
}

/** Entries that one call of a filtered page looks at: some 100 KB at most, so 12.5 read units. */
const FILTERED_LIMIT = 5_000;

function toFilter(status: PetStatus | undefined) {
  return status === undefined
    ? {}
    : {
        FilterExpression: 's = :status',
        ExpressionAttributeValues: { ':status': { S: letterOf[status] } },
      };
}

function toKey(petId: string): Record<string, AttributeValue> {
  return { p: { N: petId } };
}

function isPetId(text: string): boolean {
  return parseInt64(text) !== undefined;
}
