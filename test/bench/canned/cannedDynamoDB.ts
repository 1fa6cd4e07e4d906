import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { makeCertificate } from '../../support/faults/certificate.ts';
import {
  type CannedEntry,
  cannedOrders,
  cannedPet,
  toCannedEntry,
  toCannedItem,
  toItemJson,
  toStringItem,
} from './cannedRecords.ts';
import { PAGE_SIZE, toItemSize, toReadUnits } from './requestUnits.ts';

/** What the canned DynamoDB holds, as it is told in a message. */
export interface CannedTable {
  /** How long the inventory is. */
  readonly entries: number;
  /** The record of the only valid API key. */
  readonly key: Record<string, string>;
  /** How long each answer takes; none by default. */
  readonly delayMilliseconds?: number;
}

/** Where the canned DynamoDB answers. */
export interface CannedEndpoints {
  readonly endpoint: string;
  /** The same over TLS, as DynamoDB itself does. */
  readonly secureEndpoint: string;
  /** What a function has to trust there, in PEM. */
  readonly certificate: string;
}

/*
 * A process that answers as DynamoDB does, with answers made beforehand: what a function costs is then
 * the function's alone. Each message is a `CannedTable`. `GET /pages/N` answers a page of the Scan to
 * whoever speaks plain HTTP. It holds the one key that it was told of, and one pet.
 */
let table: CannedTable = { entries: 0, key: {} };
let pages = toCannedPages(0);

const cannedEntry = { p: { N: '7' }, q: { N: '7' }, s: { S: 'a' }, v: { B: 'nz3kW5c=' } };

const answers: Record<string, (input: Input) => string> = {
  UpdateItem: ({ Key }) => {
    const item = JSON.stringify({ ...cannedEntry, p: Key?.p });
    return `{"Attributes":${item},${toCapacity('inventory', 1)}}`;
  },
  GetItem: ({ TableName = '', Key = {} }) => {
    const held = { pets: cannedPet, inventory: cannedEntry }[TableName] ?? toStringItem(table.key);
    const isHeld = Object.entries(Key).every(
      ([name, value]) => JSON.stringify(value) === JSON.stringify(held[name as keyof typeof held]),
    );
    const item = isHeld ? `"Item":${JSON.stringify(held)},` : '';
    return `{${item}${toCapacity(TableName, 0.5)}}`;
  },
  TransactWriteItems: () => '{}',
  Query: ({ TableName = '' }) =>
    `{"Count":${cannedOrders.length},"Items":${JSON.stringify(cannedOrders)},"ScannedCount":${cannedOrders.length},${toCapacity(TableName, 0.5)}}`,
};

interface Input {
  readonly TableName?: string;
  readonly Key?: Record<string, unknown>;
  readonly ExclusiveStartKey?: { readonly p: { readonly N: string } };
}

function toCapacity(tableName: string, units: number): string {
  return `"ConsumedCapacity":{"CapacityUnits":${units},"TableName":"${tableName}"}`;
}

function sendPage(page: number, response: ServerResponse): void {
  sendJson(response, pages.bodies[page] ?? Buffer.from('{}'), pages.checksums[page]);
}

function sendJson(response: ServerResponse, body: Buffer, checksum = String(crc32(body))): void {
  response.writeHead(200, {
    'Content-Type': 'application/x-amz-json-1.0',
    'Content-Length': body.length,
    'x-amz-crc32': checksum,
    'x-amzn-RequestId': '4KBNVRGD25RG1KEO9UT4V3FQDJVV4KQNSO5AEMVJF66Q9ASUAAJG',
  });
  response.end(body);
}

/** An entry is there if its id is 7. */
function isMissing({ Key }: Input): boolean {
  return JSON.stringify(Key?.p) !== '{"N":"7"}';
}

function sendFailedCondition(response: ServerResponse): void {
  response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
  const name = 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException';
  response.end(`{"__type":"${name}","message":"The conditional request failed"}`);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const page = /^\/pages\/(\d+)$/.exec(request.url ?? '')?.[1];
  if (page !== undefined) return sendPage(Number(page), response);
  const input: Input = JSON.parse((await buffer(request)).toString());
  const action = String(request.headers['x-amz-target']).split('.')[1] ?? '';
  if (table.delayMilliseconds) await setTimeout(table.delayMilliseconds);
  if (action === 'Scan') {
    const start = input.ExclusiveStartKey?.p.N;
    return sendPage(start === undefined ? 0 : (pages.pageAfter.get(start) ?? 0), response);
  }
  if (action === 'UpdateItem' && isMissing(input)) return sendFailedCondition(response);
  const toAnswer = answers[action];
  if (!toAnswer) throw new Error(`There is no canned answer to ${action}.`);
  sendJson(response, Buffer.from(toAnswer(input)));
}

async function listen(server: Server): Promise<string> {
  server.on('request', (request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const identity = makeCertificate();
const [plain, secure] = await Promise.all([
  listen(createServer()),
  listen(createSecureServer(identity)),
]);
process.on('message', (message: CannedTable) => {
  if (message.entries !== table.entries) pages = toCannedPages(message.entries);
  table = message;
  process.send?.({});
});
process.on('disconnect', () => process.exit());
process.send?.({
  endpoint: `http://${plain}`,
  secureEndpoint: `https://${secure}`,
  certificate: identity.cert,
} satisfies CannedEndpoints);

/** The answers to the Scans of a table, ready to send. */
interface CannedPages {
  readonly bodies: readonly Buffer[];
  readonly checksums: readonly string[];
  /** Which page follows an ExclusiveStartKey, by its petId. */
  readonly pageAfter: ReadonlyMap<string, number>;
}

function toCannedPages(entries: number): CannedPages {
  const bodies: Buffer[] = [];
  const pageAfter = new Map<string, number>();
  let index = 0;
  do {
    const items: string[] = [];
    let bytes = 0;
    let last: CannedEntry | undefined;
    for (; index < entries && bytes < PAGE_SIZE; index += 1) {
      last = toCannedEntry(index);
      items.push(toItemJson(last));
      bytes += toItemSize(toCannedItem(last));
    }
    const next = index < entries ? last?.petId : undefined;
    bodies.push(Buffer.from(toPageJson(items, toReadUnits(bytes), next)));
    if (next !== undefined) pageAfter.set(next, bodies.length);
  } while (index < entries);
  const checksums = bodies.map((body) => String(crc32(body)));
  return { bodies, checksums, pageAfter };
}

function toPageJson(items: string[], units: number, next: string | undefined): string {
  const lastKey = next === undefined ? '' : `"LastEvaluatedKey":{"p":{"N":"${next}"}},`;
  const capacity = `{"CapacityUnits":${units},"TableName":"inventory"}`;
  return `{"Count":${items.length},"Items":[${items.join(',')}],${lastKey}"ScannedCount":${items.length},"ConsumedCapacity":${capacity}}`;
}
