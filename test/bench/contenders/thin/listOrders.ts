import { toHandler } from './handler.ts';

export const handler = toHandler('Query', () => ({
  TableName: process.env.ORDERS_TABLE,
  KeyConditionExpression: 'ledger = :ledger',
  ExpressionAttributeValues: { ':ledger': { S: 'orders' } },
  ScanIndexForward: false,
}));
