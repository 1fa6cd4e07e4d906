import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { authenticate, documents, httpErrorHandler, responseHeaders } from './middleware.ts';

async function listOrders(): Promise<APIGatewayProxyResult> {
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
  return {
    statusCode: 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(orders),
  };
}

export const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
  .use(responseHeaders())
  .use(httpErrorHandler())
  .use(authenticate('read'))
  .handler(listOrders);
