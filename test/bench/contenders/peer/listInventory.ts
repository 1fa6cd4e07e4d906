import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { defineHandler, documents, type StoredEntry, toInventoryItem } from './middleware.ts';

export const handler = defineHandler('read', async () => {
  const items = [];
  const pages = paginateScan({ client: documents }, { TableName: process.env.INVENTORY_TABLE });
  for await (const { Items = [] } of pages) {
    for (const item of Items) items.push(toInventoryItem(item as StoredEntry));
  }
  return items;
});
