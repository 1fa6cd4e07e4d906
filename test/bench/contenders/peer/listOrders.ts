import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { defineHandler, documents } from './middleware.ts';

export const handler = defineHandler('read', async () => {
  const orders = [];
  const pages = paginateQuery(
    { client: documents },
    {
      TableName: process.env.ORDERS_TABLE,
      KeyConditionExpression: 'ledger = :ledger',
      ExpressionAttributeValues: { ':ledger': 'orders' },
      ScanIndexForward: false,
    },
  );
  for await (const { Items = [] } of pages) {
    for (const { ledger: _, placed: __, ...order } of Items) orders.push(order);
  }
  return orders;
});
