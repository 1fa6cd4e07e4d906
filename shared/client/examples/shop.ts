/*
 * A shop's server. It sells orders, takes pieces back and cancels orders, each once, also over crashes. Its database
 * is the shop's truth: every step is saved before it is sent. It needs Node.js 24 or later.
 *
 *   BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… DATABASE=shop.db node shop.ts
 *   curl -X PUT localhost:8080/orders/1234 -d '{"7": 2, "9": 1}'            sells two pieces of pet 7 and one of pet 9
 *   curl -X PUT localhost:8080/orders/1234/returns/1 -d '{"7": 1}'          takes one piece back
 *   curl -X DELETE localhost:8080/orders/1234                               cancels an order, if nothing came back
 *   curl localhost:8080/orders/1234                                         lists its steps
 *
 * A response has a step's state: 200 done, 409 refused, 202 open. An open step may or may not have taken effect. The
 * shop sends it again: at its start, twice a minute, and when it is asked for again.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
// Elsewhere, this is the package petstore-inventory-client.
import { createPetstoreClient, PetstoreError } from '../index.ts';

const { BASE_ADDRESS = '', API_KEY = '', DATABASE = 'shop.db', PORT = '8080' } = process.env;

const petstore = createPetstoreClient({ baseUrl: BASE_ADDRESS, apiKey: API_KEY });

interface Step {
  /** The `Idempotency-Key`. */
  readonly key: string;
  readonly kind: 'sale' | 'return' | 'cancellation';
  readonly orderId: string;
  /** Such as `{"7":-2}`, the pets in order. */
  readonly deltas: string;
  /** Milliseconds since the epoch. */
  readonly savedAt: number;
  readonly state: 'open' | 'done' | 'refused';
  readonly reason: string | null;
}

const database = new DatabaseSync(DATABASE);
database.exec(`CREATE TABLE IF NOT EXISTS steps (
  key TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  orderId TEXT NOT NULL,
  deltas TEXT NOT NULL,
  savedAt INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'open',
  reason TEXT
) STRICT`);

const selectSteps = (where: string, value: string) =>
  database.prepare(`SELECT * FROM steps WHERE ${where} = ?`).all(value) as unknown as Step[];
const findStep = (key: string) => selectSteps('key', key)[0];

/** The service keeps the outcome of a key for 30 days. After that, a step sent again could happen twice. */
const MAX_AGE = 29 * 24 * 60 * 60 * 1_000;

/** Only these errors of the service are the outcome of a key. */
const refusals = ['not_found', 'not_for_sale', 'insufficient_stock', 'quantity_out_of_range'];

const running = new Map<string, Promise<Step>>();

/** Sends an open step, once at a time. @returns it as it is then, perhaps still open */
function settle(step: Step): Promise<Step> {
  const current = running.get(step.key) ?? sendStep(step).finally(() => running.delete(step.key));
  running.set(step.key, current);
  return current;
}

async function sendStep(step: Step): Promise<Step> {
  const { key, kind, orderId, state, savedAt } = step;
  if (state !== 'open') return step;
  if (kind === 'cancellation') {
    const sale = await settle(findStep(saleKey(orderId)) as Step);
    if (sale.state === 'open') return step;
    if (sale.state === 'refused') return record(step, 'done', 'Nothing was sold.');
  }
  if (Date.now() - savedAt > MAX_AGE) {
    console.error(`${key} has been open for too long: compare the stock, and settle it by hand.`);
    return step;
  }
  const deltas = Object.entries<number>(JSON.parse(step.deltas));
  const adjustments = deltas.map(([petId, delta]) => ({ petId: BigInt(petId), delta }));
  try {
    await petstore.adjustInventory(adjustments, { idempotencyKey: key });
    return record(step, 'done');
  } catch (error) {
    if (!(error instanceof PetstoreError)) throw error;
    const { code, message, refused = [], requestId } = error;
    if (refusals.includes(code)) {
      const reasons = refused.map(
        (one) => `pet ${one.petId}: ${one.code}, ${one.quantity ?? 0} left`,
      );
      return record(step, 'refused', reasons.join('; ') || message);
    }
    // Also after a 401 or a 429, since an earlier attempt may have taken effect.
    console.error(`${key} is still open: ${code}, request ${requestId}: ${message}`);
    return step;
  }
}

function record({ key }: Step, state: Step['state'], reason: string | null = null): Step {
  database.prepare('UPDATE steps SET state = ?, reason = ? WHERE key = ?').run(state, reason, key);
  return findStep(key) as Step;
}

/** The customer must change something. */
class Mistake extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const saleKey = (orderId: string) => `order-${orderId}`;
const cancellationKey = (orderId: string) => `order-${orderId}/cancelled`;

type Pieces = Readonly<Record<string, number>>;

/** Saves a step, unless it is there. @throws {Mistake} if its id has other pets or pieces */
function save(kind: Step['kind'], orderId: string, key: string, pieces: Pieces): Step {
  const sign = kind === 'sale' ? -1 : 1;
  const sorted = Object.entries(pieces).sort(([one], [other]) =>
    BigInt(one) < BigInt(other) ? -1 : 1,
  );
  const deltas = JSON.stringify(
    Object.fromEntries(sorted.map(([id, count]) => [id, sign * count])),
  );
  database
    .prepare(
      'INSERT OR IGNORE INTO steps (key, kind, orderId, deltas, savedAt) VALUES (?, ?, ?, ?, ?)',
    )
    .run(key, kind, orderId, deltas, Date.now());
  const step = findStep(key) as Step;
  if (step.deltas !== deltas)
    throw new Mistake(409, 'This id has other pets or pieces: use a new one.');
  return step;
}

function sell(orderId: string, cart: Pieces): Promise<Step> {
  if (findStep(cancellationKey(orderId))) throw new Mistake(409, 'The order was cancelled.');
  return settle(save('sale', orderId, saleKey(orderId), cart));
}

async function takeBack(orderId: string, returnId: string, pieces: Pieces): Promise<Step> {
  const key = `order-${orderId}/return-${returnId}`;
  const sale = await settle(findSale(orderId));
  if (sale.state === 'open') return sale;
  if (sale.state === 'refused' || findStep(cancellationKey(orderId))) {
    throw new Mistake(409, 'The order was not sold, or was cancelled.');
  }
  if (!findStep(key)) {
    const left: Record<string, number> = {};
    for (const { deltas } of listEffects(orderId)) {
      for (const [id, delta] of Object.entries<number>(JSON.parse(deltas))) {
        left[id] = (left[id] ?? 0) - delta;
      }
    }
    const isTooMuch = Object.entries(pieces).some(([id, count]) => count > (left[id] ?? 0));
    if (isTooMuch) throw new Mistake(409, 'The order has fewer pieces, or some came back already.');
  }
  return settle(save('return', orderId, key, pieces));
}

/** It waits for its sale: only what was sold is put back. */
function cancel(orderId: string): Promise<Step> {
  const { deltas } = findSale(orderId);
  if (listEffects(orderId).some(({ kind }) => kind === 'return')) {
    throw new Mistake(409, 'Some pieces came back: return the others.');
  }
  const sold = Object.entries<number>(JSON.parse(deltas)).map(([id, delta]) => [id, -delta]);
  return settle(save('cancellation', orderId, cancellationKey(orderId), Object.fromEntries(sold)));
}

function findSale(orderId: string): Step {
  const sale = findStep(saleKey(orderId));
  if (!sale) throw new Mistake(404, 'There is no such order.');
  return sale;
}

/** The steps of an order that took effect, or may have. */
const listEffects = (orderId: string) =>
  selectSteps('orderId', orderId).filter(({ state }) => state !== 'refused');

/** @throws {Mistake} if the service could never take it */
async function readPieces(request: IncomingMessage): Promise<Pieces> {
  let text = '';
  for await (const chunk of request) if (text.length < 10_000) text += chunk;
  const pieces = parse(text);
  const entries = Object.entries(pieces);
  const isValid = entries.every(
    ([id, count]) =>
      /^(0|-?[1-9]\d{0,18})$/.test(id) &&
      BigInt.asIntN(64, BigInt(id)) === BigInt(id) &&
      Number.isInteger(count) &&
      Number(count) > 0 &&
      Number(count) < 2 ** 31,
  );
  if (isValid && entries.length > 0 && entries.length <= 10) return pieces as Pieces;
  throw new Mistake(400, 'Send 1 to 10 pets with their pieces, such as {"7": 2, "9": 1}.');
}

function parse(text: string): object {
  try {
    const value = JSON.parse(text);
    return Array.isArray(value) ? {} : Object(value);
  } catch {
    return {};
  }
}

const statuses = { done: 200, refused: 409, open: 202 };

async function respond(request: IncomingMessage): Promise<readonly [status: number, body: object]> {
  const { method, url = '' } = request;
  const [, id, returnId] = /^\/orders\/([\w-]{1,64})(?:\/returns\/([\w-]{1,64}))?$/.exec(url) ?? [];
  if (id === undefined) return [404, { message: 'There is nothing at this path.' }];
  if (method === 'GET' && !returnId) return [200, selectSteps('orderId', id)];
  let step: Step;
  if (method === 'PUT' && returnId) step = await takeBack(id, returnId, await readPieces(request));
  else if (method === 'PUT') step = await sell(id, await readPieces(request));
  else if (method === 'DELETE' && !returnId) step = await cancel(id);
  else return [405, { message: 'An order takes PUT, GET and DELETE.' }];
  return [statuses[step.state], step];
}

const server = createServer(async (request, response) => {
  const [status, body] = await respond(request).catch((error) => {
    if (error instanceof Mistake) return [error.status, { message: error.message }] as const;
    console.error(error);
    return [500, { message: 'Something went wrong: ask again.' }] as const;
  });
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
});

async function settleOpen(): Promise<void> {
  for (const step of selectSteps('state', 'open')) await settle(step).catch(console.error);
}

setInterval(settleOpen, 30_000);
settleOpen();
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`The shop is at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
