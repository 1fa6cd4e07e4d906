import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { unitsFile } from '../../../infra/costs/units.ts';
import { type Engine, startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { readStoreData } from '../../../infra/local/storeData.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { pageQuery } from '../../../shared/contract/pageQuery.ts';
import type { Order, Pet } from '../../../shared/contract/schemas.ts';
import { MAX_QUANTITY, type PetStatus } from '../../../shared/contract/values.ts';
import { readVariable } from '../../../shared/runtime/environment.ts';
import { toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { toItemSize } from '../../bench/canned/records.ts';
import { openLocalTarget } from '../localTarget.ts';
import { type ConformanceTarget, send, sendUpdate } from '../target.ts';
import {
  measureList,
  type RequestLine,
  toMeasured,
  toMeasuredItem,
  toUnits,
} from './measureResponse.ts';
import {
  findUnmeasured,
  listNamedRequests,
  type NamedRequest,
  type Subjects,
} from './namedRequests.ts';

const sample = new URL('../../../infra/local/sample.json', import.meta.url);
const ENTRIES = 1_000;
const inventory = Array.from({ length: ENTRIES }, (_, index) => toMeasuredItem(index));
/** The longest ids, with stock to sell. */
const findIds = (status: PetStatus) =>
  inventory.flatMap(({ petId, quantity, status: own }) =>
    own === status && `${petId}`.length === 20 && quantity > 99 ? [petId] : [],
  );
const pagedIds = operationIds.filter((id) => {
  const { query = {} }: Operation = operations[id];
  return 'cursor' in query;
});
const subjects: Subjects = {
  available: findIds('available'),
  pending: findIds('pending'),
  petOfSample: 7n,
  missing: -9223372036854775808n,
  listTag: '""',
  entryTag: '""',
  cursors: {},
};

/** `npm run units` runs this with `--update`, which writes the units down. */
describe('the billed units of a request', () => {
  const lines: RequestLine[] = [];
  const lists = new Map<number, Promise<List>>();
  let target: ConformanceTarget;

  beforeAll(async () => {
    vi.spyOn(console, 'info').mockImplementation((line) => void lines.push(line));
    const data = await readStoreData(sample);
    // One order more than the largest page has, with every member, and a pet for each entry.
    const [order] = data.orders as [Order];
    const orders = [...inventory, toMeasuredItem(ENTRIES)].map(({ petId }, index) => {
      const time = new Date(Date.UTC(2026, 9, 1, 8, index)).toISOString().replace('.000', '');
      return { ...order, id: petId, petId, placedAt: time, shipDate: time };
    });
    const [pet] = data.pets as [Pet];
    const pets = [...data.pets, ...inventory.map(({ petId }) => ({ ...pet, id: petId }))];
    let engine: Engine | undefined;
    target = await openLocalTarget({
      data: { inventory, pets, orders },
      startEngine: async (options) => {
        engine = await startEmbeddedEngine(options);
        return engine;
      },
    });
    // An updated entry has a version, which a list reads too. The engine keeps bytes as base64.
    const v = { B: 'AAAAAAA=' };
    const updated = inventory.map((item) => ({ ...toInventoryRecord(item), v }));
    await engine?.putItems(readVariable('INVENTORY_TABLE'), updated);
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await target?.close();
  });

  test('are those in units.json', async () => {
    const [id] = subjects.available;
    const tags = ['/inventory', `/inventory/${id}`].map(async (path) => {
      const { headers } = await send(target, 'GET', path);
      return headers.get('etag') ?? '';
    });
    const [listTag = '', entryTag = ''] = await Promise.all(tags);
    const pages = pagedIds.map(async (one) => {
      const { headers } = await send(target, 'GET', `${operations[one].path}?limit=1`);
      return [one, /cursor=([^&>]+)/.exec(headers.get('link') ?? '')?.[1]];
    });
    const cursors = Object.fromEntries(await Promise.all(pages));
    const toRequests = () => listNamedRequests({ ...subjects, listTag, entryTag, cursors });
    // Only a key's first request looks the key up, and a replay is a second request.
    const [first, again] = [toRequests(), toRequests()];
    const rows = [];
    for (const [index, request] of again.entries()) {
      // A refusal repeats counts of up to ten digits.
      if (request.response === '409 cart') {
        for (const petId of subjects.pending) await setQuantity(petId, MAX_QUANTITY - 1);
      }
      if (request.response !== '304') await ask(first[index] as NamedRequest);
      rows.push(...(await measure(request)));
    }
    const received = await send(target, 'GET', '/no-such-path', { apiKey: null });
    const other = { operationId: 'other', response: '404', request: 'an unknown path' } as const;
    rows.push(toUnits(other, toMeasured(received, undefined, 0, 0), received.status, 0));
    await expect(
      `${JSON.stringify(rows, null, 2)}\n`,
      'commit what `npm run units` writes',
    ).toMatchFileSnapshot(unitsFile.pathname);
  }, 120_000);

  function findList(entries: number): Promise<List> {
    const list = lists.get(entries) ?? measureList(entries);
    lists.set(entries, list);
    return list;
  }

  async function setQuantity(petId: bigint, quantity: number) {
    const { status } = await sendUpdate(target, petId, `{"quantity":${quantity}}`);
    expect(status).toBe(200);
  }

  /** A whole list is measured with 1,000 entries, and calculated for a long inventory by the same code. */
  async function measure(request: NamedRequest) {
    const { operationId, response, milliseconds, longEntries, longMilliseconds = 0 } = request;
    const { received, line, storedBytes } = await ask(request);
    const { status } = received;
    const measured = toMeasured(received, line, milliseconds, storedBytes);
    const row = { operationId, response, request: request.request };
    if (longEntries === undefined) return [toUnits(row, measured, status, milliseconds)];
    const [own, long] = (await Promise.all([ENTRIES, longEntries].map(findList))) as [List, List];
    expect(measured.readUnits, response).toBe(own.readUnits);
    const bodyBytes =
      measured.bodyBytes + Number(long.bytes[response]) - Number(own.bytes[response]);
    // Another order of the entries compresses a little otherwise.
    expect(measured.bodyBytes / Number(own.bytes[response] || 1), response).toBeCloseTo(
      response === '304' ? 0 : 1,
      2,
    );
    const grown = { ...measured, readUnits: long.readUnits, bodyBytes };
    return [
      toUnits({ ...row, entries: ENTRIES }, measured, status, milliseconds),
      toUnits({ ...row, entries: longEntries }, grown, status, longMilliseconds),
    ];
  }

  async function ask({ operationId, response, path, headers, body, key }: NamedRequest) {
    const apiKey = { none: null, read: target.readOnlyApiKey, write: target.apiKey }[
      key ?? 'write'
    ];
    const content = { ...(headers && { headers }), ...(body !== undefined && { body }) };
    const before = operationId === 'adjustInventory' ? await countStored() : 0;
    lines.length = 0;
    const received = await send(target, operations[operationId].method, path, {
      apiKey,
      ...content,
    });
    expect(`${received.status}`, `${operationId} ${response}`).toBe(response.slice(0, 3));
    await vi.waitFor(() => expect(lines).toHaveLength(1), 20_000);
    const after = operationId === 'adjustInventory' ? await countStored() : 0;
    return { received, line: lines[0], storedBytes: after - before };
  }
});

type List = Awaited<ReturnType<typeof measureList>>;

/** A time in seconds, of the usual length: one with zeros at its end takes fewer bytes. */
const seconds = { N: '1795858399' };

/** With the overhead that DynamoDB bills for each item. */
async function countStored(): Promise<number> {
  const client = new DynamoDBClient();
  const TableName = readVariable('REQUESTS_TABLE');
  const { Items = [] } = await client.send(new ScanCommand({ TableName }));
  client.destroy();
  return Items.reduce(
    (sum, item) => sum + toItemSize({ ...item, w: seconds, t: seconds }) + 100,
    0,
  );
}

test('for each parameter, a request has its most expensive value', () => {
  const requests = listNamedRequests({
    ...subjects,
    listTag: '"x"',
    entryTag: '"x"',
    cursors: Object.fromEntries(pagedIds.map((id) => [id, 'x'])),
  });
  for (const id of operationIds) {
    const missing = findUnmeasured(operations[id], requests);
    expect(missing, `add requests to listRequests of test/conformance/operations/${id}.ts`).toEqual(
      [],
    );
    const names = requests.filter(({ operationId }) => operationId === id);
    expect(names.length, id).toBeGreaterThan(0);
    expect(new Set(names.map(({ response }) => response)).size).toBe(names.length);
  }
});

test('a parameter that no request has, or not with its most expensive value, is named', () => {
  const requests = listNamedRequests({ ...subjects, cursors: { listOrders: 'x' } });
  const limit = { ...pageQuery.limit, schema: { type: 'integer', maximum: 5_000 } } as const;
  const sort = { ...pageQuery.cursor, schema: { type: 'string', enum: ['price'] } } as const;
  const query = { ...pageQuery, limit, sort };
  const changed: Operation = { ...operations.listOrders, query, requestHeaders: ['If-Match'] };
  expect(findUnmeasured(changed, requests)).toEqual(['limit', 'sort', 'If-Match']);
  const others = requests.filter(({ response }) => !response.endsWith(' cart'));
  expect(findUnmeasured(operations.adjustInventory, others)).toEqual(['adjustments', 'delta']);
  expect(findUnmeasured(operations.getInventoryEntry, [])).toEqual(['petId', 'If-None-Match']);
});
