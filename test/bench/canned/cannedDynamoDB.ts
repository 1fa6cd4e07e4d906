import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { marshall } from '@aws-sdk/util-dynamodb';
import { listen } from '../../../infra/local/engine/loopback.ts';
import { makeCertificate } from '../../support/faults/certificate.ts';
import { cannedOrders, toCompactItem, toPages } from './records.ts';

export interface CannedTable {
  readonly entries: number;
  /** The record of the only valid API key. */
  readonly key: Record<string, string>;
}

export interface CannedEndpoints {
  readonly endpoint: string;
  readonly secureEndpoint: string;
  /** What a function must trust there, in PEM. */
  readonly certificate: string;
}

/*
 * A process that responds as DynamoDB does, with responses made beforehand, so that only the function's own
 * cost is measured. Each message is a `CannedTable`. `GET /pages/N` returns a page of the Scan over plain
 * HTTP. The process holds the key of its message and one entry.
 */
let table: CannedTable = { entries: 0, key: {} };
let pages = toCannedPages(0);

const cannedEntry = { p: { N: '7' }, q: { N: '7' }, s: { S: 'a' }, v: { B: 'nz3kW5c=' } };

interface Input {
  readonly TableName?: string;
  readonly Key?: Record<string, unknown>;
  readonly ExclusiveStartKey?: { readonly p: { readonly N: string } };
}

/** The responses except to Scans; nothing if a condition fails. */
const responses: Record<string, (input: Input) => object | undefined> = {
  UpdateItem: ({ Key }) =>
    JSON.stringify(Key?.p) === '{"N":"7"}'
      ? { Attributes: cannedEntry, ...toCapacity('inventory', 1) }
      : undefined,
  GetItem: ({ TableName = '', Key = {} }) => {
    const held: Record<string, unknown> =
      TableName === 'inventory' ? cannedEntry : marshall(table.key);
    const isHeld = Object.entries(Key).every(
      ([name, value]) => JSON.stringify(value) === JSON.stringify(held[name]),
    );
    return { ...(isHeld && { Item: held }), ...toCapacity(TableName, 0.5) };
  },
  TransactWriteItems: () => ({}),
  Query: ({ TableName = '' }) => {
    const { length } = cannedOrders;
    const capacity = toCapacity(TableName, 0.5);
    return { Count: length, Items: cannedOrders, ScannedCount: length, ...capacity };
  },
};

function toCapacity(TableName: string, CapacityUnits: number) {
  return { ConsumedCapacity: { CapacityUnits, TableName } };
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const page = /^\/pages\/(\d+)$/.exec(request.url ?? '')?.[1];
  if (page !== undefined) return sendBody(response, pages.bodies[Number(page)]);
  const input: Input = JSON.parse((await buffer(request)).toString());
  const action = String(request.headers['x-amz-target']).split('.')[1] ?? '';
  if (action === 'Scan') {
    const next = pages.pageAfter.get(input.ExclusiveStartKey?.p.N);
    return sendBody(response, pages.bodies[next ?? 0]);
  }
  const output = responses[action]?.(input);
  if (output) return sendBody(response, toBody(output));
  const __type = 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException';
  const message = 'The conditional request failed';
  sendBody(response, toBody({ __type, message }), 400);
}

function toBody(document: object): Buffer {
  return Buffer.from(JSON.stringify(document));
}

function sendBody(response: ServerResponse, body = toBody({}), status = 200): void {
  response.writeHead(status, {
    'Content-Type': 'application/x-amz-json-1.0',
    'Content-Length': body.length,
    'x-amzn-RequestId': '4KBNVRGD25RG1KEO9UT4V3FQDJVV4KQNSO5AEMVJF66Q9ASUAAJG',
  });
  response.end(body);
}

const identity = makeCertificate();
const port = await listen(createServer(respond), 0, '');
const securePort = await listen(createSecureServer(identity, respond), 0, '');
process.on('message', (message: CannedTable) => {
  if (message.entries !== table.entries) pages = toCannedPages(message.entries);
  table = message;
  process.send?.({});
});
process.on('disconnect', () => process.exit());
process.send?.({
  endpoint: `http://127.0.0.1:${port}`,
  secureEndpoint: `https://127.0.0.1:${securePort}`,
  certificate: identity.cert,
} satisfies CannedEndpoints);

/** The responses to the Scans of a table, ready to send, and the page that follows an ExclusiveStartKey's petId. */
function toCannedPages(entries: number) {
  const bodies: Buffer[] = [];
  const pageAfter = new Map<string | undefined, number>();
  for (const { items: Items, readUnits, isLast } of toPages(entries, toCompactItem)) {
    const { p } = Items.at(-1) ?? {};
    const LastEvaluatedKey = isLast ? undefined : { p };
    const { length } = Items;
    const capacity = toCapacity('inventory', readUnits);
    // In DynamoDB's order of members.
    const page = { Count: length, Items, LastEvaluatedKey, ScannedCount: length, ...capacity };
    bodies.push(toBody(page));
    if (!isLast) pageAfter.set(p?.N, bodies.length);
  }
  return { bodies, pageAfter };
}
