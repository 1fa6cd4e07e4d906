/*
 * A shop: its server reads the stock for all its pages, and sells each order once.
 *   BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… node server.ts
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
// Elsewhere, this is the package petstore-inventory-client.
import { createPetstoreClient, type InventoryItem, PetstoreError } from '../../index.ts';
import { type Order, sellOrder } from '../orders.ts';

const { BASE_ADDRESS = '', API_KEY = '', PORT = '8080', REFRESH_MS = '5000' } = process.env;

/** Milliseconds between two reads of the stock, however many pages show it. */
const REFRESH = Number(REFRESH_MS);

// The key stays here: pages call only this server.
const petstore = createPetstoreClient({ baseUrl: BASE_ADDRESS, apiKey: API_KEY });

const readFileHere = (name: string) => readFile(join(import.meta.dirname, name), 'utf8');
const files = new Map<string, readonly [type: string, content: string]>([
  ['/', ['text/html', await readFileHere('index.html')]],
  ['/shop.css', ['text/css', await readFileHere('shop.css')]],
  ['/shop.js', ['text/javascript', await readFileHere('shop.js')]],
]);

let stock: readonly InventoryItem[] = [];
/** The tag of the list in `stock`; undefined once a sale has changed it. */
let etag: string | undefined;
let reading: Promise<void> | undefined;

/** The stock, at most REFRESH old. Without pages, nothing is read. */
async function readStock(): Promise<readonly InventoryItem[]> {
  reading ??= refreshStock().finally(() => setTimeout(endReading, REFRESH));
  await reading;
  return stock;
}

function endReading(): void {
  reading = undefined;
}

async function refreshStock(): Promise<void> {
  // If nothing has changed, the service sends only a 304.
  const list = await petstore.listInventory({ ifNoneMatch: etag });
  if (!list) return;
  etag = list.etag;
  stock = list.items.sort((one, other) => (one.petId < other.petId ? -1 : 1));
}

/** By address. Yours are in a database. */
const orders = new Map<string, Order>();
/** The orders that run now: each runs in one place at a time. Yours have a lock in the database. */
const running = new Map<string, ReturnType<typeof takeOrder>>();

/** @returns the status and the message for the customer; below 500, the outcome is certain */
async function takeOrder(order: Order): Promise<[status: number, message: string]> {
  try {
    const isSold = await sellOrder(petstore, order, save);
    return isSold ? [200, 'It is yours.'] : [409, 'It is not for sale.'];
  } catch (error) {
    if (!(error instanceof PetstoreError)) throw error;
    console.error(`Order ${order.id}: ${error.code}, request ${error.requestId}: ${error.message}`);
    if (error.effect === 'none') return [503, 'Nothing was sold. Please try again.'];
    return [503, 'The sale may or may not have happened. Try again: you will not buy twice.'];
  }
}

/** Yours writes to a database. This one shows the new count before the next read of the stock. */
function save({ lines }: Order): void {
  for (const { petId, sent, isSold } of lines) {
    if (!sent || !isSold) continue;
    const { quantity } = sent;
    stock = stock.map((item) => (item.petId === petId ? { ...item, quantity } : item));
    etag = undefined;
  }
}

const server = createServer(async ({ method, url = '' }, response) => {
  function send(status: number, type: string, body: string): void {
    response.writeHead(status, { 'Content-Type': `${type}; charset=utf-8` }).end(body);
  }
  // A repeated PUT is the same order.
  const [, id, petId] = /^\/orders\/([\w-]{1,64})\/(-?\d{1,19})$/.exec(url) ?? [];
  if (method === 'PUT' && id !== undefined && petId !== undefined) {
    const order = orders.get(url) ?? { id, lines: [{ petId: BigInt(petId) }] };
    orders.set(url, order);
    const outcome = running.get(url) ?? takeOrder(order).finally(() => running.delete(url));
    running.set(url, outcome);
    const [status, message] = await outcome;
    return send(status, 'application/json', JSON.stringify({ message }));
  }
  if (method === 'GET' && url === '/stock.json') {
    try {
      // Ids become text, since the page would round large numbers.
      const items = (await readStock()).map((item) => ({ ...item, petId: `${item.petId}` }));
      return send(200, 'application/json', JSON.stringify(items));
    } catch (error) {
      console.error(`The stock cannot be read: ${error}`);
      return send(503, 'application/json', '{}');
    }
  }
  const [type, content] = (method === 'GET' && files.get(url)) || [];
  if (type === undefined || content === undefined) return send(404, 'text/plain', 'Not found');
  return send(200, type, content);
});

server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`The shop is at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
