/*
 * A shop's server: it sells orders, takes units back and cancels orders, each exactly once, even across crashes. Its
 * database is the source of truth: each step is saved before it is sent, and is open until its outcome is known. It needs
 * Node.js 24 or later, and only programs on its own machine reach it.
 *
 * Install the client first (guide "TypeScript client"), and run `npm pkg set type=module`. PORT is 8080 by default.
 *
 *   BASE_URL=http://127.0.0.1:3000/v1 API_KEY=psk_… DATABASE=shop.db node shop.ts
 *   curl -X PUT localhost:8080/orders/2003 -d '{"7": 2, "9": 1}'        sells two units of pet 7 and one of pet 9
 *   curl -X PUT localhost:8080/orders/2003/returns/1 -d '{"7": 1}'      takes one unit back
 *   curl -X DELETE localhost:8080/orders/2003                           cancels what is left of the order
 *   curl localhost:8080/orders/2003                                     lists its steps
 *
 * When the response is a step, the HTTP status shows its state: 200 done, 409 refused, 202 open. A body with only a
 * `message` is an error of the shop itself. An open step may or may not have taken effect. For 29 days, the shop sends it
 * again at each start and about twice a minute. Replace the API key only by a rotation: under another key, an open step
 * could take effect twice.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
// Elsewhere, this is the package petstore-inventory-client.
import { createPetstoreClient, PetstoreError } from '../index.ts';

const { BASE_URL = '', API_KEY = '', DATABASE = 'shop.db', PORT = '8080' } = process.env;

const petstore = createPetstoreClient({ baseUrl: BASE_URL, apiKey: API_KEY });

interface Step {
  /** The `Idempotency-Key`. */
  readonly key: string;
  readonly orderId: string;
  /** What it adds to the stock, such as `{"7":-2,"9":-1}`. */
  readonly deltas: string;
  /** Milliseconds since the epoch. */
  readonly savedAt: number;
  readonly state: 'open' | 'done' | 'refused';
  /** Why it was refused. */
  readonly reason: string | null;
}

// It waits for a lock, for example while a person has the database open.
const database = new DatabaseSync(DATABASE, { timeout: 5_000 });
database.exec(`CREATE TABLE IF NOT EXISTS steps (
  key TEXT PRIMARY KEY,
  orderId TEXT NOT NULL,
  deltas TEXT NOT NULL,
  savedAt INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'open',
  reason TEXT
) STRICT`);

const selectSteps = (column: 'key' | 'orderId' | 'state', value: string) =>
  database.prepare(`SELECT * FROM steps WHERE ${column} = ?`).all(value) as unknown as Step[];
const findStep = (key: string) => selectSteps('key', key)[0];

const toSaleKey = (orderId: string) => `order-${orderId}`;
const toCancellationKey = (orderId: string) => `order-${orderId}/cancelled`;

/** By pet, all more than 0. */
type Units = Readonly<Record<string, number>>;

/** The customer must change something. */
class Mistake extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Saves a step, unless it is there, then sends it.
 * @throws {Mistake} if its id was used with other pets or counts
 */
function start(orderId: string, key: string, sign: 1 | -1, units: Units): Promise<Step> {
  // In the order of their ids, so that equal steps have equal texts.
  const deltas = Object.entries(units)
    .sort()
    .map(([petId, count]) => [petId, sign * count]);
  const text = JSON.stringify(Object.fromEntries(deltas));
  database
    .prepare('INSERT OR IGNORE INTO steps (key, orderId, deltas, savedAt) VALUES (?, ?, ?, ?)')
    .run(key, orderId, text, Date.now());
  if (findStep(key)?.deltas === text) return settle(key);
  throw new Mistake(409, 'This id was used with other pets or counts: use a new id.');
}

const running = new Map<string, Promise<Step>>();

/** Sends a step if it is open, never twice at the same time. @returns the step afterwards, perhaps still open */
function settle(key: string): Promise<Step> {
  const current = running.get(key) ?? send(key).finally(() => running.delete(key));
  running.set(key, current);
  return current;
}

/** The service keeps the outcome of a key for 30 days. A step that is sent later could happen twice. */
const MAX_AGE = 29 * 24 * 60 * 60 * 1_000;

/** Only these errors of the service are the outcome of a key. */
const refusals = ['not_found', 'not_for_sale', 'insufficient_stock', 'quantity_out_of_range'];

async function send(key: string): Promise<Step> {
  const step = findStep(key) as Step;
  if (step.state !== 'open') return step;
  const saleKey = toSaleKey(step.orderId);
  if (key !== saleKey) {
    // Only what was sold is put back.
    const sale = await settle(saleKey);
    if (sale.state === 'open') return step;
    if (sale.state === 'refused') return record(key, 'refused', 'Nothing was sold.');
  }
  if (Date.now() - step.savedAt > MAX_AGE) {
    console.error(`${key} is open, and too old to be sent: count the stock, and set its state.`);
    return step;
  }
  const deltas = Object.entries<number>(JSON.parse(step.deltas));
  try {
    await petstore.adjustInventory(
      deltas.map(([petId, delta]) => ({ petId: BigInt(petId), delta })),
      { idempotencyKey: key },
    );
    return record(key, 'done');
  } catch (error) {
    if (!(error instanceof PetstoreError)) throw error;
    const { code, message, requestId } = error;
    if (refusals.includes(code)) return record(key, 'refused', message);
    // Also after a 401 or a 429: an earlier attempt may have taken effect.
    console.error(`${key} is open: ${code}, request ${requestId}: ${message}`);
    return step;
  }
}

function record(key: string, state: Step['state'], reason: string | null = null): Step {
  database.prepare('UPDATE steps SET state = ?, reason = ? WHERE key = ?').run(state, reason, key);
  return findStep(key) as Step;
}

function sell(orderId: string, cart: Units): Promise<Step> {
  if (findStep(toCancellationKey(orderId)))
    throw new Mistake(409, 'The order was cancelled: use a new id.');
  return start(orderId, toSaleKey(orderId), -1, cart);
}

function takeBack(orderId: string, returnId: string, units: Units): Promise<Step> {
  const key = `order-${orderId}/return-${returnId}`;
  const left = countLeft(orderId);
  const isTooMuch = Object.entries(units).some(([petId, count]) => count > (left[petId] ?? 0));
  if (isTooMuch && !findStep(key)) throw new Mistake(409, 'The order has fewer units left.');
  return start(orderId, key, 1, units);
}

function cancel(orderId: string): Promise<Step> {
  const key = toCancellationKey(orderId);
  if (findStep(key)) return settle(key);
  const left = Object.entries(countLeft(orderId)).filter(([, count]) => count > 0);
  if (left.length === 0) throw new Mistake(409, 'Nothing was sold, or all units came back.');
  return start(orderId, key, 1, Object.fromEntries(left));
}

/** The units of each pet that were sold and not returned. Open steps count as done. */
function countLeft(orderId: string): Record<string, number> {
  const left: Record<string, number> = {};
  for (const { deltas, state } of listSteps(orderId)) {
    if (state === 'refused') continue;
    for (const [petId, delta] of Object.entries<number>(JSON.parse(deltas))) {
      left[petId] = (left[petId] ?? 0) - delta;
    }
  }
  return left;
}

function listSteps(orderId: string): Step[] {
  const steps = selectSteps('orderId', orderId);
  if (steps.length === 0) throw new Mistake(404, 'There is no such order.');
  return steps;
}

/** @throws {Mistake} if the service could never take it */
async function readUnits(request: IncomingMessage): Promise<Units> {
  const cart = await json(request).catch(() => undefined);
  const units = Object.entries<number>(Array.isArray(cart) ? {} : Object(cart));
  if (units.length === 0 || units.length > 10) {
    const right = 'Send 1 to 10 pets with their units, such as {"7": 2, "9": 1}';
    throw new Mistake(400, `${right}, not ${units.length}.`);
  }
  for (const [petId, count] of units) {
    const isId = /^-?\d{1,19}$/.test(petId) && `${BigInt.asIntN(64, BigInt(petId))}` === petId;
    if (!isId) throw new Mistake(400, `No pet has the id ${JSON.stringify(petId)}.`);
    if (Number.isInteger(count) && count > 0 && count < 2 ** 31) continue;
    throw new Mistake(400, `Pet ${petId} must have 1 to ${2 ** 31 - 1} units, not ${count}.`);
  }
  return Object.fromEntries(units);
}

const statuses = { done: 200, refused: 409, open: 202 };

async function respond(request: IncomingMessage): Promise<readonly [status: number, body: object]> {
  const { method, url = '' } = request;
  const [, id, returnId] = /^\/orders\/([\w-]{1,64})(?:\/returns\/([\w-]{1,64}))?$/.exec(url) ?? [];
  if (!id) throw new Mistake(404, 'There is nothing at this path.');
  if (method === 'GET' && !returnId) return [200, listSteps(id)];
  let step: Step;
  if (method === 'PUT' && returnId) step = await takeBack(id, returnId, await readUnits(request));
  else if (method === 'PUT') step = await sell(id, await readUnits(request));
  else if (method === 'DELETE' && !returnId) step = await cancel(id);
  else throw new Mistake(405, 'Send PUT, or GET or DELETE of an order.');
  return [statuses[step.state], step];
}

const server = createServer(async (request, response) => {
  const [status, body] = await respond(request).catch((error) => {
    if (error instanceof Mistake) return [error.status, { message: error.message }] as const;
    console.error(error);
    return [500, { message: 'It may or may not have happened: ask again.' }] as const;
  });
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
});

server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`The shop is at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
for (;;) {
  for (const { key } of selectSteps('state', 'open')) await settle(key).catch(console.error);
  await setTimeout(30_000);
}
