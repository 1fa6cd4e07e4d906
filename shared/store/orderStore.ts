import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Order } from '../contract/order.ts';

export interface OrderStore {
  /** Every order, newest first. */
  list(): Promise<Order[]>;
}

/** All orders stand in one ledger, sorted by time, so that the newest are read first by a query. */
const LEDGER = 'orders';

/** An order as the table keeps it. */
export type OrderRecord = Order & { readonly ledger: string; readonly placed: string };

export function defineOrderStore(client: DynamoDBDocumentClient, tableName: string): OrderStore {
  return {
    async list() {
      const orders: Order[] = [];
      let next: Record<string, unknown> | undefined;
      do {
        const { Items = [], LastEvaluatedKey } = await client.send(
          new QueryCommand({
            TableName: tableName,
            KeyConditionExpression: 'ledger = :ledger',
            ExpressionAttributeValues: { ':ledger': LEDGER },
            ScanIndexForward: false,
            ExclusiveStartKey: next,
          }),
        );
        for (const item of Items) orders.push(toOrder(item as OrderRecord));
        next = LastEvaluatedKey;
      } while (next);
      return orders;
    },
  };
}

export function toOrderRecord(order: Order): OrderRecord {
  return { ...order, ledger: LEDGER, placed: toSortKey(order) };
}

/**
 * Sorts as text as the instants do, whatever offset they were written with, and by id where two orders
 * share a millisecond.
 */
function toSortKey({ placedAt, id }: Order): string {
  const unsignedId = BigInt.asUintN(64, id + 2n ** 63n);
  return `${new Date(placedAt).toISOString()}#${unsignedId.toString().padStart(20, '0')}`;
}

/** The document client reads every number as bigint, which is right for ids and not for a quantity. */
function toOrder({
  id,
  petId,
  quantity,
  status,
  placedAt,
  shipDate,
  complete,
}: OrderRecord): Order {
  return {
    id,
    petId,
    quantity: Number(quantity),
    status,
    placedAt,
    ...(shipDate !== undefined && { shipDate }),
    ...(complete !== undefined && { complete }),
  };
}
