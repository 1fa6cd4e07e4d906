import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toJson } from '../../../shared/contract/json.ts';
import { fixtures } from '../../conformance/target.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { onFastClock, useNoBackOff } from '../../support/faults/clock.ts';
import { type FaultName, faultNames, situations, toCells } from './cells.ts';
import { type Lane, type LaneRequest, openLane, runCell, runCells } from './runCell.ts';

const orders = 'listOrders: first page';
const list = 'listInventory: whole, later page';
const update = 'updateInventory: If-Match';
const stale = 'updateInventory: stale If-Match';
const sold = 'adjustInventory: a cart';
const soldUnread = 'adjustInventory: a cart, the read after it';
const soldOut = 'adjustInventory: refused, its row';
/** A call of each kind, a key lookup, and a list that breaks off. `npm run faults` runs the others too. */
const some = [orders, list, update, stale, sold, soldOut, 'listOrders: key lookup'];
const chosen = situations.filter(({ name }) => some.includes(name));
const writes = situations.filter(({ update, sale }) => update ?? sale);

useNoBackOff();

it('nothing is wrong in a part of the matrix that has every fault and every kind of call', async () => {
  // Each fault in one situation, and in each write the loss of its response, after which it is repeated.
  const cells = faultNames.flatMap((fault, row) => {
    const met = chosen.filter((situation) => toCells([fault], [situation]).length > 0);
    return toCells([fault], met.slice(row % met.length).slice(0, 1));
  });
  expect(new Set(cells.map(({ fault }) => fault))).toEqual(new Set(faultNames));
  expect(new Set(cells.map(({ situation }) => situation.name))).toEqual(new Set(some));
  const lost = toCells(['lostResponse'], writes).filter(({ times }) => times === 'once');
  // The slow ones first.
  const results = await onFastClock(() => runCells([...cells.toReversed(), ...lost]));
  expect(results.filter(({ problem }) => problem !== undefined)).toEqual([]);
});

type Send = (request: LaneRequest) => Promise<ExactResponse>;

/** The response of a planted service while a call fails; `undefined` breaks the connection. */
type Planted = (send: Send, request: LaneRequest) => unknown;

function toResponse(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = toJson(body);
  return { status, headers: new Headers(headers), bytes: Buffer.from(text), json: () => body };
}

const toError = (status: number) => toResponse(status, { status });
const toBusy = (message: string) =>
  toResponse(503, { status: 503, message }, { 'Retry-After': '1' });
const toUpdated = () => toResponse(200, {}, { ETag: '"1"' });
const twice = [...fixtures.inventory.slice(1), fixtures.inventory[1]];
const refused: Planted = async (send, request) => {
  await send(request);
  return toError(412);
};
const unheard: Planted = async (send, request) => {
  await send(request);
  return toBusy('is busy');
};

let lane: Lane;
beforeAll(async () => {
  lane = await openLane();
});
afterAll(() => lane.close());

it.each<[string, string, FaultName, Planted, RegExp]>([
  ['a 500', orders, 'throttled', () => toError(500), /500 for a known cause/],
  ['a wrong success', orders, 'emptied', () => toResponse(200, []), /wrong success/],
  ['a 503 without Retry-After', orders, 'hang', () => toError(503), /Retry-After/],
  ['a broken response', orders, 'hang', () => undefined, /unexpected response: broken/],
  ['a list with an entry twice', list, 'truncated', () => toResponse(200, twice), /ended/],
  ['a 412 for an update that was stored', update, 'lostResponse', refused, /412, but stored/],
  ['a 200 for an update that was not stored', update, 'hang', toUpdated, /200, but not stored/],
  ['a 412 after an unknown outcome', stale, 'lostResponse', () => toError(412), /unexpected.* 412/],
  ['a retry that ignores If-Match', update, 'lostResponse', unheard, /wrong retry: 200/],
  ['a sale that was not applied', sold, 'hang', () => toResponse(200, {}), /200, but not applied/],
  ['a retry that sells again', sold, 'lostResponse', unheard, /wrong retry: 200, /],
  ['a 503 that is wrong about a sale', sold, 'hang', () => toBusy('was applied'), /says that it/],
  ['a 503 that hides a sale', soldUnread, 'hang', unheard, /does not say/],
  ['a refusal that is not stored', soldOut, 'hang', () => toError(409), /wrong retry: 200/],
])('finds %s', async (_, name, fault, planted, problem) => {
  const situation = situations.find((one) => one.name === name) ?? expect.unreachable();
  let isFailing = false;
  const setFailing = (value: boolean) => () => {
    isFailing = value;
  };
  // It ignores If-Match and the keys of requests.
  const send: Send = ({ headers: { 'Idempotency-Key': key, ...headers } = {}, ...request }) => {
    const another = key !== undefined && { 'Idempotency-Key': randomUUID() };
    delete headers['If-Match'];
    return lane.send({ ...request, headers: { ...headers, ...another } });
  };
  const failing = {
    ...lane,
    store: { fail: setFailing(true), heal: setFailing(false) },
    async send(request: LaneRequest) {
      if (!isFailing) return send(request);
      return (await planted(send, request)) ?? Promise.reject(new Error('It broke.'));
    },
  } as unknown as Lane;
  const times = situation.times?.at(-1) ?? 'once';
  const { problem: found } = await runCell(failing, { situation, fault, times });
  expect(found).toMatch(problem);
});
