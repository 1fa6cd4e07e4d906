import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../../../shared/contract/headers.ts';
import openApi from '../../../shared/contract/openapi.json' with { type: 'json' };
import type { Operation } from '../../../shared/contract/operation.ts';
import { MAX_IDS } from '../../../shared/contract/operations/listInventory.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { fillPath } from '../../../shared/contract/paths.ts';
import { MAX_ADJUSTMENTS, MAX_QUANTITY } from '../../../shared/contract/values.ts';
import type { Sending } from '../target.ts';

/** A request that the model prices. */
export interface NamedRequest extends Omit<Sending, 'apiKey'> {
  readonly operationId: OperationId;
  /** The name in `traffic.json`. It begins with the status. */
  readonly response: string;
  /** In words, for the tables. */
  readonly request: string;
  readonly path: string;
  readonly key?: 'none' | 'read';
  /**
   * The time that Lambda bills, an assumption: the CPU that `npm run bench` measures, at the memory's share of a
   * processor, and some 5 ms for each call of DynamoDB. A bill has the exact time. A whole list has another one with
   * `longEntries` entries.
   */
  readonly milliseconds: number;
  readonly longMilliseconds?: number;
  readonly longEntries?: number;
}

/** What the requests name. */
export interface Subjects {
  /** Ids of 19 digits, each of an entry and a pet. */
  readonly available: readonly bigint[];
  readonly pending: readonly bigint[];
  readonly petOfSample: bigint;
  readonly missing: bigint;
  readonly listTag: string;
  readonly entryTag: string;
  /** Of the second page, if the first has one element. */
  readonly cursors: Readonly<Partial<Record<OperationId, string>>>;
}

let keys = 0;
const json = { 'Content-Type': 'application/json' };
const withKey = (key: string) => ({
  ...json,
  'Idempotency-Key': key.padStart(MAX_IDEMPOTENCY_KEY_LENGTH, 'k'),
});
const toBody = (petIds: readonly bigint[], delta: number) =>
  `{"adjustments":[${petIds.map((petId) => `{"petId":${petId},"delta":${delta}}`)}]}`;

/**
 * Two to seven requests of each operation: those of `traffic.json`, and for each parameter one with its most expensive
 * value. Each call makes new Idempotency-Keys, except for the replay.
 */
export function listNamedRequests(subjects: Subjects): NamedRequest[] {
  const { available, pending, petOfSample, missing, listTag, entryTag, cursors } = subjects;
  const [id = 0n] = available;
  const list = {
    operationId: 'listInventory',
    path: '/inventory',
    milliseconds: 25,
    longMilliseconds: 700,
    longEntries: 100_000,
  } as const;
  const part = { operationId: 'listInventory' } as const;
  const entry = (petId: bigint) =>
    ({
      operationId: 'getInventoryEntry',
      path: fillPath('/inventory/{petId}', `${petId}`),
      milliseconds: 10,
    }) as const;
  const update = {
    operationId: 'updateInventory',
    path: fillPath('/inventory/{petId}', `${id}`),
    headers: json,
    body: '{"quantity":500}',
    milliseconds: 10,
  } as const;
  const adjust = (petIds: readonly bigint[], delta: number, key = `${++keys}`) =>
    ({
      operationId: 'adjustInventory',
      path: '/inventory/adjustments',
      headers: withKey(key),
      body: toBody(petIds, delta),
      // A transaction, and then a read of the entries or a write of the refusal.
      milliseconds: 20,
    }) as const;
  const pet = (petId: bigint) =>
    ({
      operationId: 'getPet',
      path: fillPath('/pets/{petId}', `${petId}`),
      milliseconds: 10,
    }) as const;
  const orders = { operationId: 'listOrders', path: '/store/orders' } as const;
  const ids = available.slice(0, MAX_IDS).join();
  // A whole processor takes 9 ms for a page of 173 KB. A function with 512 MB has 29 % of one.
  const ofLargePage = 44;
  return [
    { ...list, response: '200', request: 'all entries' },
    {
      ...list,
      response: '200 gzip',
      request: 'all entries, gzip',
      headers: { 'Accept-Encoding': 'gzip' },
      milliseconds: 30,
      longMilliseconds: 900,
    },
    {
      ...list,
      response: '200 etag',
      request: 'all entries, include=etag',
      path: '/inventory?include=etag',
    },
    {
      ...list,
      response: '304',
      request: 'all entries, unchanged',
      headers: { 'If-None-Match': listTag },
      longMilliseconds: 312,
      // A list with more entries than one page of a Scan has no tag.
      longEntries: 43_000,
    },
    {
      ...part,
      response: '200 petId',
      request: 'one id',
      path: `/inventory?petId=${id}`,
      milliseconds: 10,
    },
    {
      ...part,
      response: '200 petIds',
      request: `${MAX_IDS} ids, include=etag`,
      path: `/inventory?petId=${ids}&status=available&include=etag`,
      milliseconds: 11,
    },
    {
      ...part,
      response: '200 page',
      request: 'limit=1000, include=etag',
      path: `/inventory?limit=1000&cursor=${cursors.listInventory}&include=etag`,
      milliseconds: 25,
    },
    { ...entry(id), response: '200', request: 'one id' },
    {
      ...entry(id),
      response: '304',
      request: 'one id, unchanged',
      headers: { 'If-None-Match': entryTag },
    },
    { ...entry(missing), response: '404', request: 'an unknown id' },
    { ...update, response: '200', request: 'one id' },
    {
      ...update,
      response: '412',
      request: 'one id, If-Match of another state',
      headers: { ...json, 'If-Match': '"AAAAGQBh"' },
      body: `{"quantity":${MAX_QUANTITY}}`,
      milliseconds: 15,
    },
    { ...update, response: '403', request: 'a read key', key: 'read', milliseconds: 2 },
    { ...adjust([id], -1), response: '200', request: 'one pet' },
    {
      ...adjust(available.slice(0, MAX_ADJUSTMENTS), -1),
      response: '200 cart',
      request: `${MAX_ADJUSTMENTS} pets`,
    },
    { ...adjust([id], -1, 'replay'), response: '200 replay', request: 'one pet, again' },
    { ...adjust([id], -1_000), response: '409', request: 'one pet, sold out' },
    {
      ...adjust(pending.slice(0, MAX_ADJUSTMENTS), -MAX_QUANTITY),
      response: '409 cart',
      request: `${MAX_ADJUSTMENTS} pets, refused`,
    },
    { ...adjust([id], -1), response: '403', request: 'a read key', key: 'read', milliseconds: 2 },
    { ...pet(petOfSample), response: '200', request: 'one id' },
    { ...pet(id), response: '200 long', request: 'one id of 19 digits' },
    { ...pet(petOfSample), response: '401', request: 'no key', key: 'none', milliseconds: 2 },
    { ...orders, response: '200', request: 'a page of 100', milliseconds: 13 },
    {
      ...orders,
      response: '200 one',
      request: 'limit=1',
      path: '/store/orders?limit=1',
      milliseconds: 10,
    },
    {
      ...orders,
      response: '200 page',
      request: 'limit=1000',
      path: `/store/orders?limit=1000&cursor=${cursors.listOrders}`,
      milliseconds: ofLargePage,
    },
  ];
}

/** The parameters of the contract that no request of the operation has with its most expensive value. */
export function findUnmeasured(operation: Operation, requests: readonly NamedRequest[]): string[] {
  const own = requests.filter(({ operationId }) => operationId === operation.operationId);
  const queries = own.map(({ path }) => new URL(path, 'http://x').searchParams);
  const inQuery = Object.entries(operation.query ?? {}).filter(([name, { schema }]) => {
    const values = queries.flatMap((query) => query.get(name) ?? []);
    return !values.some(
      (value) =>
        (schema.maximum === undefined || Number(value) === schema.maximum) &&
        (schema.maxItems === undefined || value.split(',').length === schema.maxItems),
    );
  });
  const inPath = Object.keys(operation.parameters ?? {}).filter(
    () => !own.some(({ path }) => /\d{19}/.test(path)),
  );
  const headers = (operation.requestHeaders ?? []).filter(
    (name) =>
      !own.some(({ headers = {} }) => {
        const { [name]: value } = headers;
        return (
          value?.length &&
          (name !== 'Idempotency-Key' || value.length === MAX_IDEMPOTENCY_KEY_LENGTH)
        );
      }),
  );
  const bodies = own.flatMap(({ body }) => (body === undefined ? [] : [JSON.parse(String(body))]));
  const inBody = operation.requestBody ? findUnmeasuredMembers(readSchema(operation), bodies) : [];
  return [...inQuery.map(([name]) => name), ...inPath, ...headers, ...inBody];
}

interface BodySchema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, BodySchema>>;
  readonly items?: BodySchema;
  readonly maxItems?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

/** @param values those that requests have in the place of the schema */
function findUnmeasuredMembers(
  schema: BodySchema,
  values: readonly unknown[],
  name = 'body',
): string[] {
  const { $ref, properties, items, maxItems, maximum, maxLength } = schema;
  if ($ref) return findUnmeasuredMembers(resolve($ref), values, name);
  if (properties) {
    return Object.entries(properties).flatMap(([key, one]) => {
      const own = values.map((value) => (value as Record<string, unknown>)[key]);
      return findUnmeasuredMembers(
        one,
        own.filter((value) => value !== undefined),
        key,
      );
    });
  }
  if (items) {
    const lists = values as (readonly unknown[])[];
    const isFull = lists.some(({ length }) => length === (maxItems ?? length));
    return [...(isFull ? [] : [name]), ...findUnmeasuredMembers(items, lists.flat(), name)];
  }
  const isDearest = (value: unknown) =>
    (maximum === undefined || Math.abs(Number(value)) === maximum) &&
    (maxLength === undefined || String(value).length === maxLength);
  return values.some(isDearest) ? [] : [name];
}

function readSchema({ path, method }: Operation): BodySchema {
  const rows = openApi.paths as unknown as Record<string, Record<string, DocumentRow>>;
  const content = rows[path]?.[method.toLowerCase()]?.requestBody?.content;
  return content?.['application/json']?.schema ?? {};
}

interface DocumentRow {
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: BodySchema }>>;
  };
}

function resolve(reference: string): BodySchema {
  const names = reference.replace('#/', '').split('/');
  let found: unknown = openApi;
  for (const name of names) found = (found as Record<string, unknown>)[name];
  return found as BodySchema;
}
