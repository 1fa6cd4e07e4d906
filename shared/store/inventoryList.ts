import {
  type AttributeValue,
  BatchGetItemCommand,
  type BatchGetItemCommandOutput,
  type DynamoDBClient,
  GetItemCommand,
  type KeysAndAttributes,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { StoreUnavailable } from '../contract/errors.ts';
import type { InventoryItem } from '../contract/schemas.ts';
import { type PetStatus, parseInt64 } from '../contract/values.ts';
import { openCursor, type Page, type PageRequest, sealCursor } from './cursor.ts';
import {
  letterOf,
  type TaggedItem,
  toInventoryItem,
  toKey,
  toTaggedItem,
} from './inventoryRecord.ts';
import { scanPage } from './scanPage.ts';

/** A part of the whole list. */
export interface InventoryPage {
  /** Entries as InventoryItems in JSON, separated by commas. */
  readonly items: Buffer;
  readonly isLast: boolean;
}

/** Which entries, and how each is told. */
export interface Selection {
  /** Only those of one status. */
  readonly status?: PetStatus | undefined;
  /** Whether each has its tag. */
  readonly withTags?: boolean | undefined;
}

export type ListedItem = InventoryItem | TaggedItem;

export interface InventoryList {
  /** Every selected entry once; a last page comes even when it is empty. */
  pages(selection?: Selection): AsyncGenerator<InventoryPage, void, undefined>;
  /** As `pages`, of an inventory that ends with its first entry: half a read unit, whatever there is. */
  sample(): AsyncGenerator<InventoryPage, void, undefined>;
  /**
   * At most `limit` entries, from the start or from where a cursor says.
   * @throws {InvalidRequest} when the cursor is not one that this store gave
   */
  page(request: PageRequest & Selection): Promise<Page<ListedItem>>;
  /**
   * The entries that exist of at most 100 different ids, in the order of the ids, at half a read unit
   * each; with tags, which an update will be held to, as they are at this moment, at one.
   */
  find(petIds: readonly bigint[], selection?: Selection): Promise<ListedItem[]>;
}

/** @param scanning sends what has middleware of its own, so it must not cache that of its commands */
export function defineInventoryList(
  client: DynamoDBClient,
  tableName: string,
  scanning: DynamoDBClient = client,
): InventoryList {
  /** The records of ids, in no order. */
  async function readRecords(
    petIds: readonly bigint[],
    consistent: boolean,
  ): Promise<Record<string, AttributeValue>[]> {
    const keys = petIds.map((petId) => toKey(petId.toString()));
    if (keys.length === 1) {
      const { Item } = await client.send(
        new GetItemCommand({ TableName: tableName, Key: keys[0], ConsistentRead: consistent }),
      );
      return Item ? [Item] : [];
    }
    const records: Record<string, AttributeValue>[] = [];
    let asked: KeysAndAttributes | undefined = { Keys: keys, ConsistentRead: consistent };
    for (let attempt = 0; asked?.Keys?.length; attempt += 1) {
      if (attempt === MAX_ATTEMPTS) {
        throw new StoreUnavailable(new Error('DynamoDB left keys of a batch unprocessed.'));
      }
      if (attempt > 0) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 25 * 2 ** attempt));
      }
      const answer: BatchGetItemCommandOutput = await client.send(
        new BatchGetItemCommand({ RequestItems: { [tableName]: asked } }),
      );
      records.push(...(answer.Responses?.[tableName] ?? []));
      asked = answer.UnprocessedKeys?.[tableName];
    }
    return records;
  }

  return {
    async *pages({ status, withTags = false } = {}) {
      const filter = toFilter(status);
      const read = (ExclusiveStartKey?: Record<string, AttributeValue>) =>
        scanPage(scanning, { TableName: tableName, ExclusiveStartKey, ...filter }, withTags);
      let page = await read();
      for (;;) {
        const { items, next } = page;
        // Read while the page before it is on its way to the client.
        const reading = next && read(next);
        reading?.catch(() => {});
        if (items.length > 0 || !reading) yield { items, isLast: !reading };
        if (!reading) return;
        page = await reading;
      }
    },

    async *sample() {
      const { items } = await scanPage(scanning, { TableName: tableName, Limit: 1 }, false);
      yield { items, isLast: true };
    },

    async page({ limit, cursor, status, withTags }) {
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
        items: records.map(withTags ? toTaggedItem : toInventoryItem),
        ...(last !== undefined && { next: sealCursor(tableName, last) }),
      };
    },

    async find(petIds, { status, withTags = false } = {}) {
      const records = await readRecords(petIds, withTags);
      const items = records.map(withTags ? toTaggedItem : toInventoryItem);
      const byPetId = new Map(items.map((item) => [item.petId, item]));
      return petIds.flatMap((petId) => {
        const item = byPetId.get(petId);
        return item && (status === undefined || item.status === status) ? [item] : [];
      });
    },
  };
}

/** Entries that one call of a filtered page looks at: some 100 KB at most, so 12.5 read units. */
const FILTERED_LIMIT = 5_000;

/** A hundred small entries are left unprocessed only where the table throttles. */
const MAX_ATTEMPTS = 5;

function toFilter(status: PetStatus | undefined) {
  return status === undefined
    ? {}
    : {
        FilterExpression: 's = :status',
        ExpressionAttributeValues: { ':status': { S: letterOf[status] } },
      };
}

function isPetId(text: string): boolean {
  return parseInt64(text) !== undefined;
}
