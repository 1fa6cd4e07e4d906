import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Order } from '../contract/schemas.ts';
import { ORDER_STATUS_ERROR, orderStatuses } from '../contract/values.ts';
import { openCursor, type Page, type PageRequest, sealCursor } from './cursor.ts';
import {
  boolean,
  dateTime,
  defineRecordReader,
  int64,
  oneOf,
  optional,
  quantityFrom,
} from './recordReader.ts';

/** All orders are in one ledger, sorted by time, so that a query reads the newest first. */
const LEDGER = 'orders';

export function defineOrderStore(client: DynamoDBDocumentClient, tableName: string) {
  return {
    /**
     * At most `limit` orders, newest first, from the newest or from the cursor. A page of 1,000 takes well under the
     * 1 MB that one call reads.
     * @throws {InvalidRequest} if this store did not make the cursor
     */
    async page({ limit, cursor }: PageRequest): Promise<Page<Order>> {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: tableName,
          KeyConditionExpression: 'ledger = :ledger',
          ExpressionAttributeValues: { ':ledger': LEDGER },
          ScanIndexForward: false,
          Limit: limit,
          ...(cursor !== undefined && {
            ExclusiveStartKey: { ledger: LEDGER, placed: openCursor(tableName, cursor, isSortKey) },
          }),
        }),
      );
      return {
        items: Items.map(toOrder),
        ...(LastEvaluatedKey && { next: sealCursor(tableName, LastEvaluatedKey.placed) }),
      };
    },
  };
}

export function toOrderRecord(order: Order) {
  return { ...order, ledger: LEDGER, placed: toSortKey(order) };
}

/**
 * Its text order is the order of the instants, independent of their offsets. Orders in the same millisecond are sorted
 * by id.
 */
function toSortKey({ placedAt, id }: Order): string {
  const unsignedId = BigInt.asUintN(64, id + 2n ** 63n);
  return `${new Date(placedAt).toISOString()}#${unsignedId.toString().padStart(20, '0')}`;
}

function isSortKey(text: string): boolean {
  return /^[-+\d]{4,7}-\d\d-\d\dT[\d:.]{12}Z#\d{20}$/.test(text);
}

export const toOrder = defineRecordReader<Order>(['ledger', 'placed'], {
  id: int64,
  petId: int64,
  quantity: quantityFrom(1),
  status: oneOf(orderStatuses, ORDER_STATUS_ERROR),
  placedAt: dateTime,
  shipDate: optional(dateTime),
  complete: optional(boolean),
});
