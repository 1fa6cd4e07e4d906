/*
 * A shop: its server reads the stock for all its pages, and sells, takes back and cancels orders.
 *   BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… node server.ts
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
// Elsewhere, this is the package petstore-inventory-client.
import {
  createPetstoreClient,
  type InventoryAdjustment,
  type InventoryItem,
  PetstoreError,
} from '../../index.ts';

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
/** The tag of the list in `stock`; undefined once an order has changed it. */
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

/** Pieces of each pet. */
type Cart = ReadonlyMap<bigint, number>;

/** Yours are in a database, and saved before each request. */
interface Order {
  /** What the customer has. */
  readonly pieces: Map<bigint, number>;
  /** The keys of the steps that took effect. */
  readonly done: Set<string>;
  /** A step without a known outcome. It is sent again before any other. */
  open?: { readonly key: string; readonly adjustments: readonly InventoryAdjustment[] } | undefined;
  /** Settles after the last step: one runs at a time. Yours have a lock in the database. */
  turn: Promise<unknown>;
}

/** By their ids. A dropped one can be sent again, but neither returned nor cancelled. */
const orders = new Map<string, Order>();
const MAX_ORDERS = 1_000;

/** What a customer may do with an order, with the messages for done and refused. */
const steps = {
  order: ['It is yours.', 'It is not for sale.'],
  return: ['It is back.', 'It cannot be returned.'],
  cancellation: ['It is cancelled.', 'It cannot be cancelled.'],
} as const;
type Step = keyof typeof steps;
type Outcome = readonly [status: number, message: string];

/** Takes a step after the last one of its order. One that is sent again has the outcome of the first. */
async function takeStep(step: Step, id: string, key: string, cart: Cart): Promise<Outcome> {
  const empty: Order = { pieces: new Map(), done: new Set(), turn: Promise.resolve() };
  const order = orders.get(id) ?? empty;
  if (step === 'order') orders.set(id, order);
  if (orders.size > MAX_ORDERS) orders.delete(orders.keys().next().value ?? '');
  const outcome = order.turn.then(() => runStep(order, step, key, cart));
  order.turn = outcome.catch(() => {});
  const result = await outcome;
  // The service keeps the outcome of a refused order.
  if (order.done.size === 0 && !order.open && orders.get(id) === order) orders.delete(id);
  return result;
}

/** @returns the status and the message for the customer; below 500, the outcome is certain */
async function runStep(order: Order, step: Step, key: string, cart: Cart): Promise<Outcome> {
  const [done, refused] = steps[step];
  const { pieces } = order;
  try {
    await sendOpen(order);
    const isCancelled = order.done.size > 0 && pieces.size === 0;
    if (isCancelled && step === 'order') return [409, 'It was returned or cancelled.'];
    if (order.done.has(key)) return [200, done];
    const changed = [...(step === 'cancellation' ? pieces : cart)];
    const isTooMuch = changed.some(([petId, count]) => count > (pieces.get(petId) ?? 0));
    if (step !== 'order' && (isTooMuch || changed.length === 0)) return [409, refused];
    const sign = step === 'order' ? -1 : 1;
    order.open = { key, adjustments: changed.map(([petId, n]) => ({ petId, delta: sign * n })) };
    await sendOpen(order);
    return [200, done];
  } catch (error) {
    if (!(error instanceof PetstoreError)) throw error;
    const { code, effect, status, requestId, message } = error;
    if (status === 409 || code === 'not_found') return [409, refused];
    console.error(`${key}: ${code}, request ${requestId}: ${message}`);
    if (effect === 'none') return [503, 'Nothing has changed. Please try again.'];
    return [503, 'It may or may not have happened. Try again: it will not happen twice.'];
  }
}

async function sendOpen(order: Order): Promise<void> {
  if (!order.open) return;
  const { key, adjustments } = order.open;
  try {
    const { entries } = await petstore.adjustInventory(adjustments, { idempotencyKey: key });
    // Pages show the new counts before the next read of the stock.
    etag = undefined;
    stock = stock.map((item) => entries.find(({ petId }) => petId === item.petId) ?? item);
  } catch (error) {
    if (error instanceof PetstoreError && error.effect === 'none') order.open = undefined;
    throw error;
  }
  order.open = undefined;
  order.done.add(key);
  for (const { petId, delta } of adjustments) {
    const left = (order.pieces.get(petId) ?? 0) - delta;
    if (left > 0) order.pieces.set(petId, left);
    else order.pieces.delete(petId);
  }
}

/** Adds up lines with the same pet. @returns undefined if the body is no cart, such as `[["7", 2]]` */
async function readCart(request: IncomingMessage): Promise<Cart | undefined> {
  const cart = new Map<bigint, number>();
  let text = '';
  try {
    // A longer body is invalid JSON, since the rest is left out.
    for await (const chunk of request) if (text.length < 10_000) text += chunk;
    for (const [petId, count] of JSON.parse(text)) {
      if (!/^-?\d{1,19}$/.test(petId) || !(Number.isInteger(count) && count > 0)) return undefined;
      cart.set(BigInt(petId), (cart.get(BigInt(petId)) ?? 0) + count);
    }
  } catch {
    return undefined;
  }
  return cart.size > 0 ? cart : undefined;
}

const server = createServer(async (request, response) => {
  const { method = '', url = '', headers } = request;
  function send(status: number, type: string, body: string): void {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Content-Security-Policy', "default-src 'self'; img-src data:");
    response.writeHead(status, { 'Content-Type': `${type}; charset=utf-8` }).end(body);
  }
  // Another name may be a page's own, which leads here to read and to buy (DNS rebinding).
  if (!/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(headers.host ?? '')) {
    return send(421, 'text/plain', 'Call the shop by localhost.');
  }
  const [, id, returnId] = /^\/orders\/([\w-]{1,64})(?:\/returns\/([\w-]{1,64}))?$/.exec(url) ?? [];
  if (id !== undefined && (method === 'PUT' || (method === 'DELETE' && !returnId))) {
    const cart = method === 'PUT' ? await readCart(request) : new Map();
    if (!cart) return send(400, 'application/json', '{"message":"There is no cart."}');
    const step = returnId ? 'return' : method === 'PUT' ? 'order' : 'cancellation';
    const key = returnId ? `return-${id}/${returnId}` : `${step}-${id}`;
    const [status, message] = await takeStep(step, id, key, cart);
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
