import { paginateScan } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import {
  authenticate,
  documents,
  httpErrorHandler,
  responseHeaders,
  type StoredEntry,
  toInventoryItem,
} from './middleware.ts';

async function listInventory(): Promise<APIGatewayProxyResult> {
  const items = [];
  const pages = paginateScan({ client: documents }, { TableName: process.env.INVENTORY_TABLE });
  for await (const { Items = [] } of pages) {
    for (const item of Items) items.push(toInventoryItem(item as StoredEntry));
  }
  return {
    statusCode: 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(items),
  };
}

export const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
  .use(responseHeaders())
  .use(httpErrorHandler())
  .use(authenticate('read'))
  .handler(listInventory);
