import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  growsWithInventory,
  measuredSizes,
  type ResponseKind,
  type ResponseUnits,
  responsesOf,
  toBodyKind,
  unitsFile,
} from '../../../infra/costs/units/responseUnits.ts';
import { readStoreData } from '../../../infra/local/storeData.ts';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import { toJson } from '../../../shared/contract/json.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { pageQuery } from '../../../shared/contract/pageQuery.ts';
import type { ParameterSchema } from '../../../shared/contract/parameters.ts';
import { fillPath } from '../../../shared/contract/paths.ts';
import type { Order, Pet } from '../../../shared/contract/schemas.ts';
import { MAX_ADJUSTMENTS, MAX_QUANTITY, petStatuses } from '../../../shared/contract/values.ts';
import { startTestGateway } from '../../infra/local/testGateway.ts';
import { openLocalTarget } from '../localTarget.ts';
import type { ExampleRequest } from '../operations/operationSuite.ts';
import { suites, toSending } from '../operations/suites.ts';
import { type ConformanceTarget, type Sending, send } from '../target.ts';
import {
  CURRENT,
  type LargestRequest,
  listLargestRequests,
  makeKey,
  NEW_KEY,
} from './largestRequests.ts';
import {
  type List,
  measureList,
  measureOtherList,
  type RequestLine,
  type Seen,
  toMeasuredItem,
  toResponseUnits,
} from './measureResponse.ts';

const sample = new URL('../../../infra/local/sample.json', import.meta.url);

/** `npm run units` runs this with `--update`, which writes the units down. */
describe('the billed units of a request', () => {
  const lines: RequestLine[] = [];
  let target: ConformanceTarget;
  let lists: List[];
  let taggedLists: List[];
  let measured: ResponseUnits[];
  let keys = 0;

  beforeAll(async () => {
    vi.spyOn(console, 'info').mockImplementation((line) => void lines.push(line));
    const data = await readStoreData(sample);
    // As many as the largest page has, with every member, and a pet for the ids of the inventory too.
    const orders = inventory.map(({ petId }, index): Order => {
      const [order] = data.orders as [Order];
      return { ...order, id: petId, petId, placedAt: toTime(index), shipDate: toTime(index) };
    });
    const [pet] = data.pets as [Pet];
    const pets = [...data.pets, ...inventory.map(({ petId }) => ({ ...pet, id: petId }))];
    const local = await openLocalTarget({ data: { inventory, pets, orders } });
    // The valid requests name an entry with an id of the usual length, and a pet of the sample.
    const entry = { ...toMeasuredItem(0), quantity: 8 };
    const named = { inventory: [entry], pets: pets.filter(({ id }) => id === 7n), orders };
    const ids = { changeablePetId: entry.petId, missingPetId };
    target = { ...local, fixtures: { ...named, ...ids } };
    const both = await Promise.all(
      [7, 19].flatMap((digits) => measuredSizes.map((entries) => measureList(entries, digits))),
    );
    lists = both.map(([plain]) => plain);
    taggedLists = both.map(([, tagged]) => tagged);
    measured = await measureAll();
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await target?.close();
  });

  test('are those in units.json', async () => {
    const text = `${JSON.stringify(measured, null, 2)}\n`;
    await expect(text, 'commit what `npm run units` writes').toMatchFileSnapshot(
      unitsFile.pathname,
    );
  });

  test('are also measured for what the contract gets next, or an error says what is not known', () => {
    const sort = { type: 'string', enum: ['price', 'name'] } as const;
    const ask = (schema: ParameterSchema) => {
      const query = { sort: { ...pageQuery.cursor, schema }, limit: pageQuery.limit };
      return listLargestRequests({ ...operations.listOrders, query }, subjects, 'next');
    };
    expect(ask(sort).map(({ path, request }) => [path, request])).toEqual([
      ['/store/orders', ''],
      ['/store/orders?limit=1000', 'limit=1000'],
      ['/store/orders?sort=price', 'sort=price'],
      ['/store/orders?sort=price&limit=1000', 'sort=price, limit=1000'],
      ['/store/orders?sort=name', 'sort=name'],
      ['/store/orders?sort=name&limit=1000', 'sort=name, limit=1000'],
    ]);
    expect(() => ask({ type: 'string' })).toThrow('Say here which sort makes');
    // No ids with pages; a cart of ten of each kind, with each delta, for a new key and again.
    const listed = listLargestRequests(operations.listInventory, subjects, 'next');
    expect(
      listed.some(({ path }) => /petId=.*(limit|cursor)|(limit|cursor)=.*petId/.test(path)),
    ).toBe(false);
    const sent = listLargestRequests(operations.adjustInventory, subjects, undefined);
    expect(sent).toHaveLength(Object.keys(subjects).length * 4 * 2);
    for (const { body } of sent) expect(JSON.parse(body as string).adjustments).toHaveLength(10);
  });

  const growing = responsesOf.listInventory.filter((one) =>
    growsWithInventory('listInventory', one),
  );
  test.each(growing)('of a short list %s match the calculation for long ones', (response) => {
    const seen = measured.find((units) => units.response === response && units.idDigits === 19);
    const list = lists.find(isSeen);
    expect(seen?.readUnits).toBe(list?.readUnits);
    const body = response === '304' ? 0 : Number(list?.bytes[toBodyKind(response)]);
    const head = Number(seen?.responseBytes) - body;
    expect(head).toBeGreaterThan(300);
    expect(head).toBeLessThan(1_000);
  });

  async function measureAll(): Promise<ResponseUnits[]> {
    const all: ResponseUnits[] = [];
    for (const id of operationIds) {
      const { received } = await ask(id, makeRequest(target, id, '200', ''), '200');
      const tag = received.headers.get('etag') ?? '';
      for (const response of responsesOf[id]) {
        if (response === '429') all.push(await measureRefused(id));
        else all.push(...(await measure(id, response, makeRequest(target, id, response, tag))));
      }
    }
    for (const id of operationIds) all.push(...(await measureLargest(id)));
    return all;
  }

  /** The requests at the contract's limits that no other one exceeds in everything that is billed. */
  async function measureLargest(id: OperationId): Promise<ResponseUnits[]> {
    const operation: Operation = operations[id];
    const pages =
      operation.query && (await send(target, operation.method, `${operation.path}?limit=500`));
    const [, cursor] = /cursor=([^&>]+)/.exec(pages?.headers.get('link') ?? '') ?? [];
    if (id === 'adjustInventory') await fillStock();
    const asked: Asked[] = [];
    for (const request of listLargestRequests(operation, subjects, cursor)) {
      asked.push({ request, units: await askLargest(id, request) });
    }
    // A whole list grows with the inventory, and is compared with its like.
    const groups = [...Map.groupBy(asked, ({ request }) => request.isWhole).values()];
    return groups
      .flatMap((group) => group.filter(isMostExpensive))
      .flatMap(({ request, units }) => {
        if (!request.isWhole) return [units];
        const own = request.path.includes('include=') ? taggedLists : lists;
        const short = own.find(isSeen) as List;
        return own.map((long) => measureOtherList(units, short, long));
      });
  }

  /** Gives the pets counts of ten digits, which a refusal repeats. Sales and returns of some pieces are left. */
  async function fillStock(): Promise<void> {
    const headers = { 'Content-Type': 'application/json' };
    const body = `{"quantity":${MAX_QUANTITY - 99}}`;
    for (const petId of Object.values(subjects)
      .slice(0, -1)
      .flatMap((ids) => ids.slice(0, 10))) {
      await ask('updateInventory', { path: `/inventory/${petId}`, headers, body }, '200');
    }
  }

  async function askLargest(id: OperationId, largest: LargestRequest): Promise<ResponseUnits> {
    const { request, path, isRepeated, isWhole } = largest;
    const headers: Record<string, string> = { ...largest.headers };
    for (const [name, value] of Object.entries(headers)) {
      if (value === NEW_KEY) headers[name] = makeKey(++keys);
      if (value === CURRENT) {
        const { received } = await ask(id === 'updateInventory' ? 'getInventoryEntry' : id, {
          path,
        });
        headers[name] = received.headers.get('etag') ?? '"AAAAGQBh"';
      }
    }
    const sending = { path, headers, ...(largest.body && { body: largest.body }) };
    if (isRepeated) await ask(id, sending);
    const seen = await ask(id, sending);
    return toResponseUnits({
      ...seen,
      request,
      ...(isWhole && { entries: inventory.length }),
    });
  }

  async function measure(id: OperationId, response: ResponseKind, request: MeasuredRequest) {
    // Only a key's first request looks the key up. A replay is the second request.
    if (response === '403' || response === '200 replay') await ask(id, request, response);
    const seen = await ask(id, request, response);
    const own = lists.find(isSeen);
    if (!own || !growsWithInventory(id, response)) return [toResponseUnits(seen)];
    const units = toResponseUnits({ ...seen, entries: own.entries });
    const others = lists.filter(({ entries }) => response !== '304' || entries < 40_000);
    return others.map((other) => measureOtherList(units, own, other));
  }

  async function ask(
    operationId: OperationId,
    { path, ...sending }: MeasuredRequest,
    response?: ResponseKind,
  ): Promise<Seen> {
    lines.length = 0;
    const received = await send(target, operations[operationId].method, path, sending);
    const status = `${received.status}` as ResponseKind;
    if (response) expect(status, `${operationId} ${response}`).toBe(response.slice(0, 3));
    await vi.waitFor(() => expect(lines).toHaveLength(1), 20_000);
    return { operationId, response: response ?? status, received, line: lines[0] as RequestLine };
  }

  async function measureRefused(operationId: OperationId): Promise<ResponseUnits> {
    const limit = { failures: [{ status: 429, share: 1 }] };
    const limited = await startTestGateway({}, undefined, limit);
    const { method, path: template } = operations[operationId];
    const path = fillPath(template, '7');
    const received = await send({ ...target, baseUrl: limited.baseUrl }, method, path);
    await limited.drain();
    return toResponseUnits({ operationId, response: '429', received });
  }
});

interface Asked {
  readonly request: LargestRequest;
  readonly units: ResponseUnits;
}

/** Whether no other request costs at least as much in everything that is billed; of equal ones, the first does. */
function isMostExpensive({ units }: Asked, index: number, all: readonly Asked[]): boolean {
  const own = toAmounts(units);
  return all.every((other, at) => {
    const others = toAmounts(other.units);
    const isAbove = own.some((amount, part) => amount > Number(others[part]));
    const isEqual = own.every((amount, part) => amount === others[part]);
    return isAbove || (isEqual && index <= at);
  });
}

function toAmounts({ logBytes, ...units }: ResponseUnits): number[] {
  const { gatewayRequests, billedMilliseconds, readUnits, writeUnits, responseBytes } = units;
  const logged = Object.values(logBytes).reduce((sum, bytes) => sum + bytes, 0);
  return [gatewayRequests, billedMilliseconds, readUnits, writeUnits, responseBytes, logged];
}

/** Entries that are new to each operation, since some requests change them. */
const inventory = Array.from({ length: measuredSizes[0] }, (_, index) => toMeasuredItem(index));
const missingPetId = -9223372036854775808n;
const subjects = {
  ...Object.fromEntries(
    petStatuses.map((status) => [
      status,
      inventory.flatMap((one) => {
        // The longest ids, with pieces to sell.
        const isLargest = `${one.petId}`.length === 20 && one.quantity > 99;
        return one.status === status && isLargest ? [one.petId] : [];
      }),
    ]),
  ),
  missing: Array.from({ length: 10 }, (_, index) => missingPetId + BigInt(index)),
};

const toTime = (index: number) =>
  new Date(Date.UTC(2026, 9, 1, 8, index)).toISOString().replace('.000', '');

/** Whether it is the list of the local stage. */
const isSeen = ({ entries, idDigits }: List) => entries === measuredSizes[0] && idDigits === 19;

interface MeasuredRequest extends Sending {
  readonly path: string;
}

/**
 * The operation's valid request, changed as the contract says, or the document's example of an error, for the entries
 * of this test. 429 comes from the gateway.
 * @param tag the tag in the response to the valid request
 */
function makeRequest(
  target: ConformanceTarget,
  id: OperationId,
  response: ResponseKind,
  tag: string,
): MeasuredRequest {
  const { path, body, headers: own } = suites[id].toValidRequest(target);
  const isKeyed = own?.['Idempotency-Key'] !== undefined;
  const changes: Partial<Record<ResponseKind, Partial<MeasuredRequest>>> = {
    '200': { ...(isKeyed && { headers: { 'Idempotency-Key': randomUUID() } }) },
    '200 gzip': { headers: { 'Accept-Encoding': 'gzip' } },
    '200 zstd': { headers: { 'Accept-Encoding': 'zstd' } },
    '200 petId': { path: `${path}?petId=${target.fixtures.changeablePetId}` },
    '200 petIds': { path: `${path}?petId=${inventory.slice(-100).map(({ petId }) => petId)}` },
    '200 cart': {
      headers: { 'Idempotency-Key': randomUUID() },
      body: toJson({ adjustments: makeCart() }),
    },
    // The example of 422 has the same key.
    '200 replay': { headers: { 'Idempotency-Key': 'order-1234' } },
    '304': { headers: { 'If-None-Match': tag } },
  };
  const { [response]: change } = changes;
  if (change) {
    const headers = { ...(body && { 'Content-Type': 'application/json' }), ...change.headers };
    return { path, ...(body && { body }), ...change, headers };
  }
  const ofStatus = ({ code }: ExampleRequest) => code && `${statusOfCode[code]}` === response;
  const example = Object.values(suites[id].examples).findLast(ofStatus);
  if (!example) throw new Error(`The suite of ${id} has no example of ${response}.`);
  const { missingPetId, changeablePetId } = target.fixtures;
  const petId = response === '404' ? missingPetId : path.split('/').at(-1);
  const sending = toSending(target, example);
  const petIdOfBody = response === '404' ? missingPetId : changeablePetId;
  return {
    ...sending,
    ...(sending.body && {
      body: String(sending.body).replace(/(?<="petId":)\d+/, `${petIdOfBody}`),
    }),
    path: 'parameters' in operations[id] ? example.path.replace(/\d+$/, `${petId}`) : example.path,
  };
}

/** As many pets as one adjustment may have. */
function makeCart() {
  return Array.from({ length: MAX_ADJUSTMENTS }, (_, index) => ({
    petId: toMeasuredItem(index).petId,
    delta: 1,
  }));
}
