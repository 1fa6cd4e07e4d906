import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  paginateScan,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import middy, { type MiddlewareObj } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { ZodError, z } from 'zod';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Permission } from '../../../shared/contract/operation.ts';
import { defineKeyStore } from '../../../shared/keys/keyStore.ts';
import { defineKeyVerifier } from '../../../shared/keys/keyVerifier.ts';

// The operations, written without looking at what they cost. Each makes its handler when it is called, so that a
// bundle holds only what its own operation needs.

export function listInventory() {
  return defineHandler('read', async () => {
    const items = [];
    const pages = paginateScan({ client: documents }, { TableName: process.env.INVENTORY_TABLE });
    for await (const { Items = [] } of pages) {
      for (const item of Items) items.push(toInventoryItem(item as StoredEntry));
    }
    return items;
  });
}

export function updateInventory() {
  const InventoryUpdate = z.object({ quantity: z.number().int().min(0).max(2_147_483_647) });
  return defineHandler('write', async ({ pathParameters, body }) => {
    const { petId } = PathParameters.parse(pathParameters);
    const { quantity } = InventoryUpdate.parse(body);
    const { Attributes } = await documents.send(
      new UpdateCommand({
        TableName: process.env.INVENTORY_TABLE,
        Key: { p: petId },
        UpdateExpression: 'SET q = :quantity',
        ConditionExpression: 'attribute_exists(p)',
        ExpressionAttributeValues: { ':quantity': quantity },
        ReturnValues: 'ALL_NEW',
      }),
    );
    return toInventoryItem(Attributes as StoredEntry);
  }).use(httpJsonBodyParser());
}

export function adjustInventory() {
  const Adjustments = z.object({
    adjustments: z
      .array(z.object({ petId: z.coerce.bigint().pipe(z.int64()), delta: z.number().int() }))
      .min(1)
      .max(10),
  });
  return defineHandler('write', async ({ headers, body }) => {
    const { adjustments } = Adjustments.parse(body);
    const TableName = process.env.INVENTORY_TABLE ?? '';
    const updates = adjustments.map(({ petId, delta }) => ({
      Update: {
        TableName,
        Key: { p: petId },
        UpdateExpression: 'SET q = q + :delta',
        ConditionExpression: 's = :available AND q >= :pieces',
        ExpressionAttributeValues: { ':delta': delta, ':pieces': -delta, ':available': 'a' },
      },
    }));
    const Put = {
      TableName: process.env.REQUESTS_TABLE,
      Item: { p: 1, r: headers['Idempotency-Key'], body },
      ConditionExpression: 'attribute_not_exists(r)',
    };
    const TransactItems = [...updates, { Put }];
    await documents.send(new TransactWriteCommand({ TransactItems }));
    const entries = await Promise.all(
      adjustments.map(async ({ petId }) => {
        const get = { TableName, Key: { p: petId }, ConsistentRead: true };
        const { Item } = await documents.send(new GetCommand(get));
        return toInventoryItem(Item as StoredEntry);
      }),
    );
    return { entries };
  }).use(httpJsonBodyParser());
}

export function listOrders() {
  const query = {
    TableName: process.env.ORDERS_TABLE,
    KeyConditionExpression: 'ledger = :ledger',
    ExpressionAttributeValues: { ':ledger': 'orders' },
    ScanIndexForward: false,
  };
  return defineHandler('read', async () => {
    const orders = [];
    for await (const { Items = [] } of paginateQuery({ client: documents }, query)) {
      for (const { ledger: _, placed: __, ...order } of Items) orders.push(order);
    }
    return orders;
  });
}

/** One client a container. Integers past 2^53 become bigint, so that ids stay exact. */
const documents = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
  unmarshallOptions: { wrapNumbers: toExactNumber },
});

/** Lets `JSON.stringify` write a bigint as the digits of a number. */
Object.assign(BigInt.prototype, {
  toJSON(this: bigint) {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.toString());
  },
});

function toExactNumber(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

/** The service's own check of API keys, with its cache, so that both sides do the same work here. */
const verifier = defineKeyVerifier(defineKeyStore(documents, process.env.API_KEYS_TABLE ?? ''));

type Middleware = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/** @param toBody returns the body of the 200 response */
function defineHandler(
  permission: Permission,
  toBody: (event: APIGatewayProxyEvent) => Promise<unknown>,
) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(guardAndShape(permission))
    .handler(async (event: APIGatewayProxyEvent) => ({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(await toBody(event)),
    }));
}

/** Checks the API key, and gives every response its headers and every error the service's Error body. */
function guardAndShape(permission: Permission): Middleware {
  const addHeaders: Middleware['after'] = ({ event, response }) => {
    if (!response) return;
    response.headers = {
      ...response.headers,
      'Access-Control-Allow-Origin': process.env.ALLOWED_ORIGINS ?? '*',
      'X-Request-Id': event.requestContext.requestId,
    };
  };
  return {
    async before({ event: { headers } }) {
      const authorization = headers.Authorization ?? headers.authorization ?? '';
      const key = await verifier.verify(authorization.replace(/^bearer +/i, ''));
      if (permission === 'write' && key.permission !== 'write') {
        throw Object.assign(new Error('The API key allows reading only.'), { statusCode: 403 });
      }
    },
    after: addHeaders,
    onError(request) {
      const status = toStatus(request.error);
      const message = status < 500 ? String(request.error?.message) : 'Internal server error';
      const [code] = Object.entries(statusOfCode).find(([, one]) => one === status) ?? [];
      if (status >= 500) console.error(request.error);
      request.response = {
        statusCode: status,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ code, message, status }),
      };
      return addHeaders(request);
    },
  };
}

function toStatus(error: unknown): number {
  if (error instanceof ZodError) return 400;
  const { statusCode = 500, name = '' } = error as { statusCode?: number; name?: string };
  return { Unauthorized: 401, ConditionalCheckFailedException: 404 }[name] ?? statusCode;
}

const PathParameters = z.object({ petId: z.coerce.bigint().pipe(z.int64()) });

/** An inventory entry as the table keeps it; see `shared/store/inventoryRecord.ts`. */
interface StoredEntry {
  readonly p: number | bigint;
  readonly q: number;
  readonly s: string;
}

const statusOf: Record<string, string> = { a: 'available', p: 'pending', s: 'sold' };

function toInventoryItem({ p, q, s }: StoredEntry) {
  return { petId: p, quantity: q, status: statusOf[s] };
}
