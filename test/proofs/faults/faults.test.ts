import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { toJson } from '../../../shared/contract/values.ts';
import { fixtures } from '../../conformance/target.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { type Cell, type FaultName, situations } from './cells.ts';
import { type Lane, type LaneRequest, runCell } from './runCell.ts';

const command = new URL('faults.ts', import.meta.url).pathname;

it('finds nothing wrong where calls lose their responses', async () => {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const args = [command, '--only', 'lostResponse'];
  const options = { env: { PATH, NODE_COMPILE_CACHE } };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  expect(stdout).toMatch(new RegExp(`^${situations.length * 2} cells in \\d+ s, 0 wrong$`, 'm'));
});

interface Entry {
  quantity: number;
  etag: string;
}

/** The response of a planted service while a call fails; `undefined` breaks the connection. */
type Planted = (entry: Entry, body: string) => ExactResponse | undefined;

function toResponse(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = toJson(body);
  const bytes = Buffer.from(text);
  return { status, headers: new Headers(headers), bytes, text, json: () => body };
}

const toError = (status: number) => toResponse(status, { status });
const unavailable = toResponse(503, { status: 503 }, { 'Retry-After': '5' });

function store(entry: Entry, body: string): void {
  entry.quantity = JSON.parse(body).quantity;
  entry.etag = `"${Number(entry.etag.slice(1, -1)) + 1}"`;
}

/** The matrix's verdict on a service that is right until a call fails, and then responds as planted. */
async function judge(name: string, fault: FaultName, planted: Planted, times: Cell['times']) {
  const situation = situations.find((one) => one.name === name);
  if (!situation) throw new Error(`Unknown situation ${name}.`);
  const entry: Entry = { quantity: 1, etag: '"0"' };
  let isFailing = false;
  const setFailing = (value: boolean) => () => {
    isFailing = value;
  };
  const lane = {
    store: { fail: setFailing(true), heal: setFailing(false) },
    engine: { send: async () => {} },
    addKey: async () => 'psk_',
    async send(request: LaneRequest) {
      const body = String(request.body ?? '');
      if (isFailing) return planted(entry, body) ?? Promise.reject(new Error('It broke.'));
      if (body === '') return toResponse(200, fixtures.inventory);
      store(entry, body);
      return toResponse(200, {}, { ETag: entry.etag });
    },
    readEntry: async () => ({ ...entry }),
  } as unknown as Lane;
  return (await runCell(lane, { situation, fault, times })).problem;
}

const pet = 'getPet: the pet';
const list = 'listInventory: whole, later page, identity';
const twice = [...fixtures.inventory.slice(1), fixtures.inventory[1]];
const storeAnd = (response: ExactResponse): Planted => {
  return (entry, body) => {
    store(entry, body);
    return response;
  };
};

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
    storeAnd(toError(412)),
    /412, but stored/,
  ],
  [
    'a 200 for an update that was not stored',
    'updateInventory: plain',
    'hang',
    () => toResponse(200, {}, { ETag: '"1"' }),
    /200, but not stored as acknowledged/,
  ],
  [
    'a retry that takes effect again',
    'updateInventory: Idempotency-Key',
    'lostResponse',
    storeAnd(unavailable),
    /wrong retry: 200/,
  ],
])('the matrix finds %s', async (_, name, fault, planted, problem) => {
  expect(await judge(name, fault, planted, 'always')).toMatch(problem);
});
