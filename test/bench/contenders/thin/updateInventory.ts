import { toHandler } from './handler.ts';

export const handler = toHandler('UpdateItem', ({ body, pathParameters }) => ({
  TableName: process.env.INVENTORY_TABLE,
  Key: { p: { N: pathParameters?.petId } },
  UpdateExpression: 'SET q = :quantity',
  ConditionExpression: 'attribute_exists(p)',
  ExpressionAttributeValues: { ':quantity': { N: String(JSON.parse(body ?? '').quantity) } },
  ReturnValues: 'ALL_NEW',
}));
