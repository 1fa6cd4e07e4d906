import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toStoreCalls } from '../../conformance/faults/faultyTarget.ts';
import { fixtures } from '../../conformance/fixtures.ts';
import { suites } from '../../conformance/operations/suites.ts';

/** A request, and the one of its calls that a fault meets. */
export interface Situation {
  readonly name: string;
  readonly operationId: OperationId;
  readonly call: { readonly action: string; readonly table: string };
  /** How many of those calls get through first. */
  readonly after?: number;
  /** Whether the function meets the key for the first time; it knows the key otherwise. */
  readonly coldKey?: boolean;
  /** The largest number of records that a page of the engine has. */
  readonly pageSize?: number;
  /** Of a read: its path, and the headers that it is sent with. */
  readonly path?: string;
  readonly acceptEncoding?: string;
  /** Whether the list is sent while it is read, and its entries are updated meanwhile. */
  readonly streams?: boolean;
  /** Of an update: what it is sent with. */
  readonly update?: {
    readonly ifMatch?: 'current' | 'stale';
    readonly idempotencyKey?: boolean;
  };
}

const ids = [fixtures.changeablePetId, -1n, 5n, 7n].join(',');

const keyTable = { action: 'GetItem', table: 'apiKeys' };
const query = { action: 'Query', table: 'orders' };
const scan = { action: 'Scan', table: 'inventory' };
const write = { action: 'UpdateItem', table: 'inventory' };
const read = { action: 'GetItem', table: 'inventory' };
const transaction = { action: 'TransactWriteItems', table: 'inventory' };

/** A valid request of each operation. */
const valid = operationIds.map((operationId) => {
  const { path, body } = suites[operationId].toValidRequest({ fixtures });
  return { operationId, ...(body === undefined ? { path } : { update: {} }) };
});

const keyLookups = valid.flatMap((request): Situation[] => [
  { ...request, name: `${request.operationId}: its key, met first`, call: keyTable, coldKey: true },
  { ...request, name: `${request.operationId}: its key, known`, call: keyTable },
]);

/** Each operation's, by a name of their own. */
type Own = Omit<Situation, 'name' | 'operationId'>;

const whole: Own = { path: '/inventory', call: scan, pageSize: 10 };
const laterPage: Own = { ...whole, streams: true, after: 2 };
const withTags: Own = { ...laterPage, path: '/inventory?include=etag' };
const tagged = `/inventory?petId=${fixtures.changeablePetId}&include=etag`;

const situationsOf: Partial<Record<OperationId, Record<string, Own>>> = {
  getPet: { 'the pet': { path: '/pets/1', call: { action: 'GetItem', table: 'pets' } } },
  listOrders: {
    'first page': { path: '/store/orders?limit=3', call: query },
    'later page': { path: 'next of /store/orders?limit=3', call: query },
  },
  listInventory: {
    'whole, first page': whole,
    'limit, first page': { path: '/inventory?limit=10', call: scan },
    'limit, later page': { path: 'next of /inventory?limit=10', call: scan },
    'several ids': {
      path: `/inventory?petId=${ids}`,
      call: { action: 'BatchGetItem', table: 'inventory' },
    },
    'one id with its tag': { path: tagged, call: read },
    'whole, later page, identity': laterPage,
    'whole, later page, identity, tags': withTags,
    'whole, later page, gzip': { ...laterPage, acceptEncoding: 'gzip' },
    'whole, later page, gzip, tags': { ...withTags, acceptEncoding: 'gzip' },
    'whole, later page, zstd': { ...laterPage, acceptEncoding: 'zstd' },
    'whole, later page, zstd, tags': { ...withTags, acceptEncoding: 'zstd' },
  },
  updateInventory: {
    plain: { update: {}, call: write },
    'If-Match': { update: { ifMatch: 'current' }, call: write },
    'Idempotency-Key': { update: { idempotencyKey: true }, call: transaction },
    'Idempotency-Key, its read': { update: { idempotencyKey: true }, call: read },
    both: { update: { ifMatch: 'current', idempotencyKey: true }, call: transaction },
    'both, stale If-Match': {
      update: { ifMatch: 'stale', idempotencyKey: true },
      call: transaction,
    },
    'stale If-Match': { update: { ifMatch: 'stale' }, call: write },
    'stale If-Match, its look': { update: { ifMatch: 'stale' }, call: read },
  },
};

const named = Object.entries(situationsOf).flatMap(([operationId, own]) =>
  Object.entries(own).map(
    ([name, situation]): Situation => ({
      ...situation,
      name: `${operationId}: ${name}`,
      operationId: operationId as OperationId,
    }),
  ),
);

/** The first call of each operation that has no situations of its own. */
const others = valid
  .filter(({ operationId }) => !(operationId in situationsOf))
  .map(
    (request): Situation => ({
      ...request,
      name: `${request.operationId}: its table`,
      call: toStoreCalls(request.operationId),
    }),
  );

export const situations: readonly Situation[] = [...keyLookups, ...named, ...others];
