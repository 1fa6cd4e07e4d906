import {
  type AttributeValue,
  type DynamoDBClient,
  ScanCommand,
  type ScanCommandInput,
} from '@aws-sdk/client-dynamodb';
import { toJson } from '../contract/json.ts';
import type { InventoryItem } from '../contract/schemas.ts';
import { type PetStatus, parseInt64 } from '../contract/values.ts';
import { scanPage } from '../runtime/sdk/scanPage.ts';
import { openCursor, type Page, type PageRequest, sealCursor } from './cursor.ts';
import { readInventoryRecords } from './inventoryEntry.ts';
import { letterOf, toInventoryItem, toKey, toTaggedItem } from './inventoryRecord.ts';
import { rewriteScanResponse } from './scanResponse.ts';

interface InventoryPage {
  /** Entries as InventoryItems in JSON, separated by commas. */
  readonly items: Buffer;
  readonly isLast: boolean;
}

interface Selection {
  readonly status?: PetStatus | undefined;
  readonly withTags?: boolean | undefined;
}

export type InventoryList = ReturnType<typeof defineInventoryList>;

export function defineInventoryList(client: DynamoDBClient, tableName: string) {
  /** A page with its entries in JSON, separated by commas. */
  async function readPage(input: Omit<ScanCommandInput, 'TableName'>, withTags: boolean) {
    const { items, next } = await scanPage(client, { TableName: tableName, ...input }, (response) =>
      rewriteScanResponse(response, withTags),
    );
    // Not within the call, which the SDK would retry.
    if (Buffer.isBuffer(items)) return { items, next };
    const text = toJson(items.map(withTags ? toTaggedItem : toInventoryItem));
    return { items: Buffer.from(text.slice(1, -1)), next };
  }

  return {
    /** Every selected entry once. The last page may be empty. */
    async *pages({
      status,
      withTags = false,
    }: Selection = {}): AsyncGenerator<InventoryPage, void> {
      const filter = buildFilter(status);
      const read = (ExclusiveStartKey?: Record<string, AttributeValue>) =>
        readPage({ ExclusiveStartKey, ...filter }, withTags);
      let page = await read();
      for (;;) {
        const { items, next } = page;
        // Reads the next page while the client receives this one.
        const reading = next && read(next);
        reading?.catch(() => {});
        if (items.length > 0 || !reading) yield { items, isLast: !reading };
        if (!reading) return;
        page = await reading;
      }
    },

    /** As `pages`, but ends after the first entry. Always costs half a read unit. */
    async *sample(): AsyncGenerator<InventoryPage, void> {
      const { items } = await readPage({ Limit: 1 }, false);
      yield { items, isLast: true };
    },

    /**
     * At most `limit` entries, from the start or from the cursor.
     * @throws {InvalidRequest} if this store did not make the cursor
     */
    page: (request: PageRequest & Selection) => readFilteredPage(client, tableName, request),

    /**
     * The existing entries of at most 100 different ids, in the order of the ids. Each costs half a read unit. With
     * tags, which updates depend on, the read is consistent and each costs one.
     */
    async find(petIds: readonly bigint[], { status, withTags = false }: Selection = {}) {
      const records = await readInventoryRecords(client, tableName, petIds, withTags);
      const items = records.map(withTags ? toTaggedItem : toInventoryItem);
      return status === undefined ? items : items.filter((item) => item.status === status);
    },
  };
}

/** Entries that one call of a filtered page reads: up to some 120 KB, so 15 read units. */
const FILTERED_LIMIT = 5_000;

async function readFilteredPage(
  client: DynamoDBClient,
  tableName: string,
  { limit, cursor, status, withTags }: PageRequest & Selection,
): Promise<Page<InventoryItem>> {
  const found: Record<string, AttributeValue>[] = [];
  let next = cursor === undefined ? undefined : toKey(openCursor(tableName, cursor, isInt64));
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new ScanCommand({
        TableName: tableName,
        ExclusiveStartKey: next,
        // DynamoDB filters after the limit, so a filtered page reads more per call.
        Limit: status === undefined ? limit : Math.max(limit, FILTERED_LIMIT),
        ...buildFilter(status),
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
}

function buildFilter(status: PetStatus | undefined) {
  return status === undefined
    ? {}
    : {
        FilterExpression: 's = :status',
        ExpressionAttributeValues: { ':status': { S: letterOf[status] } },
      };
}

const isInt64 = (text: string) => parseInt64(text) !== undefined;
