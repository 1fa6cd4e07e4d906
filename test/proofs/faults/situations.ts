import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { fixtures } from '../../conformance/fixtures.ts';
import { toStoreCalls } from '../../conformance/localTarget.ts';
import { suites } from '../../conformance/operations/suites.ts';

/** A request, and the call that fails. */
export interface Situation {
  readonly name: string;
  readonly call: { readonly action: string; readonly table: string };
  /** How many of these calls succeed first. */
  readonly after?: number;
  /** Whether the function sees the key for the first time; otherwise the key is in its cache. */
  readonly coldKey?: boolean;
  /** The most records on a page of the engine. */
  readonly pageSize?: number;
  /** The request, unless it updates the entry. Repeated, it gets the same response. */
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  readonly acceptEncoding?: string;
  /** Whether the list is streamed; its entries are then updated meanwhile. */
  readonly streams?: boolean;
  /** An update of the entry, and its headers. */
  readonly update?: { readonly ifMatch?: 'current' | 'stale'; readonly idempotencyKey?: boolean };
}

const ids = [fixtures.changeablePetId, -1n, 5n, 7n].join(',');

const keyTable = { action: 'GetItem', table: 'apiKeys' };
const query = { action: 'Query', table: 'orders' };
const scan = { action: 'Scan', table: 'inventory' };
const write = { action: 'UpdateItem', table: 'inventory' };
const read = { action: 'GetItem', table: 'inventory' };
const transaction = { action: 'TransactWriteItems', table: 'inventory' };

/** By name; each name starts with the operation's. */
type Named = Record<string, Omit<Situation, 'name'>>;

const whole = { path: '/inventory', call: scan, pageSize: 10 };
const laterPage = { ...whole, streams: true, after: 2 };
const withTags = { ...laterPage, path: '/inventory?include=etag' };
const tagged = `/inventory?petId=${fixtures.changeablePetId}&include=etag`;
const batch = { action: 'BatchGetItem', table: 'inventory' };

const own: Named = {
  'getPet: the pet': { path: '/pets/1', call: { action: 'GetItem', table: 'pets' } },
  'listOrders: first page': { path: '/store/orders?limit=3', call: query },
  'listOrders: later page': { path: 'next of /store/orders?limit=3', call: query },
  'listInventory: whole, first page': whole,
  'listInventory: limit, first page': { path: '/inventory?limit=10', call: scan },
  'listInventory: limit, later page': { path: 'next of /inventory?limit=10', call: scan },
  'listInventory: several ids': { path: `/inventory?petId=${ids}`, call: batch },
  'listInventory: one id with its tag': { path: tagged, call: read },
  'listInventory: whole, later page, identity': laterPage,
  'listInventory: whole, later page, identity, tags': withTags,
  'listInventory: whole, later page, gzip': { ...laterPage, acceptEncoding: 'gzip' },
  'listInventory: whole, later page, gzip, tags': { ...withTags, acceptEncoding: 'gzip' },
  'listInventory: whole, later page, zstd': { ...laterPage, acceptEncoding: 'zstd' },
  'listInventory: whole, later page, zstd, tags': { ...withTags, acceptEncoding: 'zstd' },
  'updateInventory: plain': { update: {}, call: write },
  'updateInventory: If-Match': { update: { ifMatch: 'current' }, call: write },
  'updateInventory: Idempotency-Key': { update: { idempotencyKey: true }, call: transaction },
  'updateInventory: both': {
    update: { ifMatch: 'current', idempotencyKey: true },
    call: transaction,
  },
  'updateInventory: both, stale If-Match': {
    update: { ifMatch: 'stale', idempotencyKey: true },
    call: transaction,
  },
  'updateInventory: stale If-Match': { update: { ifMatch: 'stale' }, call: write },
  'updateInventory: stale If-Match, its read': { update: { ifMatch: 'stale' }, call: read },
};

/** The key lookup, and the first call of an operation without situations of its own. */
function toCommon(operationId: OperationId): Named {
  const valid = suites[operationId].toValidRequest({ fixtures });
  const request = operationId === 'updateInventory' ? { update: {} } : valid;
  const hasOwn = Object.keys(own).some((name) => name.startsWith(`${operationId}:`));
  return {
    [`${operationId}: key lookup, first use`]: { ...request, call: keyTable, coldKey: true },
    [`${operationId}: key lookup, cached`]: { ...request, call: keyTable },
    ...(!hasOwn && {
      [`${operationId}: its call`]: { ...request, call: toStoreCalls(operationId) },
    }),
  };
}

const all: Named = Object.assign({}, ...operationIds.map(toCommon), own);
export const situations = Object.entries(all).map(
  ([name, situation]): Situation => ({ ...situation, name }),
);
