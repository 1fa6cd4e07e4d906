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

/** How a list is sent. */
const encodings = ['identity', 'gzip', 'zstd'] as const;

const ids = [fixtures.changeablePetId, -1n, 5n, 7n].join(',');

const keyTable = { action: 'GetItem', table: 'apiKeys' };
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

const reads: Situation[] = [
  {
    name: 'getPet: the pet',
    operationId: 'getPet',
    path: '/pets/1',
    call: { action: 'GetItem', table: 'pets' },
  },
  ...[
    { name: 'first page', path: '/store/orders?limit=3' },
    { name: 'later page', path: 'next of /store/orders?limit=3' },
  ].map(
    ({ name, path }): Situation => ({
      name: `listOrders: ${name}`,
      operationId: 'listOrders',
      path,
      call: { action: 'Query', table: 'orders' },
    }),
  ),
  ...[
    { name: 'whole, first page', path: '/inventory', call: scan, pageSize: 10 },
    { name: 'limit, first page', path: '/inventory?limit=10', call: scan },
    { name: 'limit, later page', path: 'next of /inventory?limit=10', call: scan },
    {
      name: 'several ids',
      path: `/inventory?petId=${ids}`,
      call: { action: 'BatchGetItem', table: 'inventory' },
    },
    {
      name: 'one id with its tag',
      path: `/inventory?petId=${fixtures.changeablePetId}&include=etag`,
      call: read,
    },
  ].map(
    ({ name, ...others }): Situation => ({
      name: `listInventory: ${name}`,
      operationId: 'listInventory',
      ...others,
    }),
  ),
];

const laterPages = encodings.flatMap((acceptEncoding) =>
  ['/inventory', '/inventory?include=etag'].map(
    (path): Situation => ({
      name: `listInventory: whole, later page, ${acceptEncoding}${path.includes('etag') ? ', tags' : ''}`,
      operationId: 'listInventory',
      path,
      acceptEncoding,
      streams: true,
      call: scan,
      after: 2,
      pageSize: 10,
    }),
  ),
);

const updates: Situation[] = [
  { name: 'plain', update: {}, call: write },
  { name: 'If-Match', update: { ifMatch: 'current' }, call: write } as const,
  { name: 'Idempotency-Key', update: { idempotencyKey: true }, call: transaction },
  { name: 'Idempotency-Key, its read', update: { idempotencyKey: true }, call: read },
  {
    name: 'both',
    update: { ifMatch: 'current', idempotencyKey: true },
    call: transaction,
  } as const,
  {
    name: 'both, stale If-Match',
    update: { ifMatch: 'stale', idempotencyKey: true },
    call: transaction,
  } as const,
  { name: 'stale If-Match', update: { ifMatch: 'stale' }, call: write } as const,
  {
    name: 'stale If-Match, its look',
    update: { ifMatch: 'stale' },
    call: read,
  } as const,
].map(({ name, ...others }) => ({
  name: `updateInventory: ${name}`,
  operationId: 'updateInventory',
  ...others,
}));

const named = [...reads, ...laterPages, ...updates];

/** The first call of each operation that has no situations of its own. */
const others = valid
  .filter(({ operationId }) => !named.some((situation) => situation.operationId === operationId))
  .map(
    (request): Situation => ({
      ...request,
      name: `${request.operationId}: its table`,
      call: toStoreCalls(request.operationId),
    }),
  );

export const situations: readonly Situation[] = [...keyLookups, ...named, ...others];
