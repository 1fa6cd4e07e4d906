import { describe, expect, it } from 'vitest';
import { toJson } from '../../../shared/contract/values.ts';
import { fixtures } from '../../conformance/fixtures.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import type { Cell, FaultName } from './cell.ts';
import type { Lane, LaneRequest } from './lane.ts';
import { runCell } from './runCell.ts';
import { situations } from './situations.ts';

/** What a planted service answers while a call fails; `undefined` breaks the connection. */
type Planted = (request: LaneRequest, entry: Entry) => ExactResponse | undefined;

interface Entry {
  quantity: number;
  etag: string;
}

function toAnswer(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = toJson(body);
  const bytes = Buffer.from(text);
  return {
    status,
    headers: new Headers(headers),
    bytes,
    text,
    json: () => body,
  } satisfies ExactResponse;
}

const toError = (status: number) => toAnswer(status, { code: 'x', message: 'x', status });
const unavailable = toAnswer(503, { status: 503 }, { 'Retry-After': '5' });

/** The matrix's verdict on a service that is right until a call fails, and then as planted. */
async function judge(
  name: string,
  fault: FaultName,
  planted: Planted,
  times: Cell['times'] = 'always',
): Promise<string | undefined> {
  const situation = situations.find((one) => one.name === name);
  if (!situation) throw new Error(`There is no situation ${name}.`);
  const entry: Entry = { quantity: 1, etag: '"0"' };
  let isFailing = false;
  const answerRight = ({ body }: LaneRequest) => {
    if (body === undefined) return toAnswer(200, fixtures.inventory);
    store(entry, body);
    return toAnswer(200, {}, { ETag: entry.etag });
  };
  const lane = {
    store: {
      fail: () => {
        isFailing = true;
      },
      heal: () => {
        isFailing = false;
      },
    },
    engine: { send: async () => {} },
    addKey: async () => 'psk_',
    async send(request: LaneRequest) {
      const answer = isFailing ? planted(request, entry) : answerRight(request);
      if (!answer) throw new Error('The connection broke.');
      return answer;
    },
    readEntry: async () => ({ ...entry }),
  } as unknown as Lane;
  return (await runCell(lane, { situation, fault, times })).problem;
}

function store(entry: Entry, body = ''): void {
  entry.quantity = JSON.parse(body).quantity;
  entry.etag = `"${Number(entry.etag.slice(1, -1)) + 1}"`;
}

const list = 'listInventory: whole, later page, identity';

describe('the matrix finds', () => {
  it.each<[string, string, FaultName, Planted, RegExp]>([
    ['a 500', 'getPet: the pet', 'throttled', () => toError(500), /500 for a known cause/],
    ['a wrong success', 'getPet: the pet', 'emptied', () => toAnswer(200, []), /wrong success/],
    ['a 404 of its own', 'getPet: the pet', 'emptied', () => toError(404), /answered 404/],
    ['a 503 that says no time', 'getPet: the pet', 'hang', () => toError(503), /Retry-After/],
    ['an error of another body', 'getPet: the pet', 'hang', () => toAnswer(503, {}), /Error body/],
    ['a broken answer', 'getPet: the pet', 'hang', () => undefined, /answered broken/],
    [
      'a list that ended early',
      list,
      'truncated',
      () => toAnswer(200, fixtures.inventory.slice(1)),
      /ended/,
    ],
    [
      'a list with an entry twice',
      list,
      'truncated',
      () => toAnswer(200, [...fixtures.inventory.slice(1), fixtures.inventory[1]]),
      /ended/,
    ],
    [
      'a 412 for an update that was stored',
      'updateInventory: If-Match',
      'lostAnswer',
      ({ body }, entry) => {
        store(entry, body);
        return toError(412);
      },
      /412, and stored/,
    ],
    [
      'a 200 for an update that was not',
      'updateInventory: plain',
      'hang',
      () => toAnswer(200, {}, { ETag: '"1"' }),
      /200, and not stored so/,
    ],
    [
      'an entry that something else became of',
      'updateInventory: plain',
      'lostAnswer',
      (_, entry) => {
        entry.quantity = -1;
        entry.etag = '"x"';
        return unavailable;
      },
      /neither/,
    ],
    [
      'a repetition that takes effect again',
      'updateInventory: Idempotency-Key',
      'lostAnswer',
      ({ body }, entry) => {
        store(entry, body);
        return unavailable;
      },
      /repeated: 200/,
    ],
  ])('%s', async (_, name, fault, planted, problem) => {
    expect(await judge(name, fault, planted)).toMatch(problem);
  });

  it('nothing in what is right', async () => {
    expect(await judge('getPet: the pet', 'throttled', () => unavailable)).toBeUndefined();
    const whole = () => toAnswer(200, fixtures.inventory);
    expect(await judge('getPet: the pet', 'throttled', whole, 'once')).toBeUndefined();
    expect(await judge(list, 'hang', () => undefined)).toBeUndefined();
    expect(await judge(list, 'hang', whole, 'once')).toBeUndefined();
  });
});
