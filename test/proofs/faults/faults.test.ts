import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toJson } from '../../../shared/contract/values.ts';
import { fixtures } from '../../conformance/target.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { onFastClock, useNoBackOff } from '../../support/faults/clock.ts';
import { type FaultName, faultNames, situations, toCells } from './cells.ts';
import { type Lane, type LaneRequest, openLane, runCell } from './runCell.ts';

const pet = 'getPet: the pet';
const list = 'listInventory: whole, later page, identity';
const update = 'updateInventory: plain';
const keyed = 'updateInventory: Idempotency-Key';
/** Each operation's own call, a key lookup, and a list that breaks off. `npm run faults` runs the others too. */
const some = [
  ...[pet, list, update, keyed, 'getPet: key lookup, first use', 'listOrders: first page'],
  ...['listInventory: whole, first page', 'getInventoryEntry: its call'],
];

const chosen = situations.filter(({ name }) => some.includes(name));

useNoBackOff();

/** For the surrounding group's tests. */
function useLanes(count: number): readonly Lane[] {
  const lanes: Lane[] = [];
  beforeAll(async () => {
    while (lanes.length < count) lanes.push(await openLane());
  });
  afterAll(() => Promise.all(lanes.map((lane) => lane.close())));
  return lanes;
}

/** Runs the cells of each situation on a lane of its own, all at once. @returns what is wrong */
async function findWrong(lanes: readonly Lane[], fault: FaultName, tried: typeof situations) {
  const run = async (situation: (typeof situations)[number], index: number) => {
    const wrong: unknown[] = [];
    for (const cell of toCells([fault], [situation])) {
      const { times, problem } = await runCell(lanes[index] as Lane, cell);
      if (problem !== undefined) wrong.push([situation.name, fault, times, problem]);
    }
    return wrong;
  };
  return (await onFastClock(() => Promise.all(tried.map(run)))).flat();
}

// Each third has functions of its own, which have all their retries left.
describe.each([0, 1, 2])('in third %i of the matrix', (third) => {
  const lanes = useLanes(some.length);
  const ofThird = <Value>(all: readonly Value[]) => all.filter((_, index) => index % 3 === third);

  it.each(ofThird(faultNames))(
    'nothing is wrong where the calls of each operation end in %s',
    async (fault) => {
      expect(chosen).toHaveLength(some.length);
      expect(await findWrong(lanes, fault, chosen)).toEqual([]);
    },
  );

  it('nothing is wrong where any call loses its response', async () => {
    const all = ofThird(situations);
    for (let next = 0; next < all.length; next += lanes.length) {
      const tried = all.slice(next, next + lanes.length);
      expect(await findWrong(lanes, 'lostResponse', tried)).toEqual([]);
    }
  });
});

type Send = (request: LaneRequest) => Promise<ExactResponse>;

/** The response of a planted service while a call fails; `undefined` breaks the connection. */
type Planted = (send: Send, request: LaneRequest) => unknown;

function toResponse(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = toJson(body);
  return { status, headers: new Headers(headers), bytes: Buffer.from(text), json: () => body };
}

const toError = (status: number) => toResponse(status, { status });
const twice = [...fixtures.inventory.slice(1), fixtures.inventory[1]];
const sendAnd = (response: object): Planted => {
  return async (send, request) => {
    await send(request);
    return response;
  };
};

const ordinary = useLanes(1);
it.each<[string, string, FaultName, Planted, RegExp]>([
  ['a 500', pet, 'throttled', () => toError(500), /500 for a known cause/],
  ['a wrong success', pet, 'emptied', () => toResponse(200, []), /wrong success/],
  ['a 503 without Retry-After', pet, 'hang', () => toError(503), /Retry-After/],
  ['a broken response', pet, 'hang', () => undefined, /unexpected response: broken/],
  ['a list with an entry twice', list, 'truncated', () => toResponse(200, twice), /ended/],
  [
    'a 412 for an update that was stored',
    'updateInventory: If-Match',
    'lostResponse',
    sendAnd(toError(412)),
    /412, but stored/,
  ],
  [
    'a 200 for an update that was not stored',
    update,
    'hang',
    () => toResponse(200, {}, { ETag: '"1"' }),
    /200, but not stored as acknowledged/,
  ],
  [
    'a retry that takes effect again',
    keyed,
    'lostResponse',
    sendAnd(toResponse(503, { status: 503 }, { 'Retry-After': '5' })),
    /wrong retry: 200/,
  ],
])('finds %s', async (_, name, fault, planted, problem) => {
  const situation = situations.find((one) => one.name === name) ?? expect.unreachable();
  let isFailing = false;
  const setFailing = (value: boolean) => () => {
    isFailing = value;
  };
  const lane = ordinary[0] as Lane;
  // It ignores the keys of updates.
  const send: Send = ({ headers: { 'Idempotency-Key': _, ...headers } = {}, ...request }) =>
    lane.send({ ...request, headers });
  const failing = {
    ...lane,
    store: { fail: setFailing(true), heal: setFailing(false) },
    async send(request: LaneRequest) {
      if (!isFailing) return send(request);
      return (await planted(send, request)) ?? Promise.reject(new Error('It broke.'));
    },
  } as unknown as Lane;
  const { problem: found } = await runCell(failing, { situation, fault, times: 'always' });
  expect(found).toMatch(problem);
});
