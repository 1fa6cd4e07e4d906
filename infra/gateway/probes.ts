import { randomUUID } from 'node:crypto';
import { type ErrorCode, statusOfCode } from '../../shared/contract/errorBody.ts';
import type { Operation, Permission } from '../../shared/contract/operation.ts';
import { operationIds, operations } from '../../shared/contract/operations.ts';
import { fillPath } from '../../shared/contract/paths.ts';
import { UNUSED_ID } from '../../shared/contract/values.ts';
import { type TableName, tables } from '../stages/tables.ts';
import { gatewayErrors } from './gatewayErrors.ts';

// The requests of the deployments' hook, the scheduled check and the smoke test. All follow from the contract.

const paths = operationIds.map((id) => operations[id].path);

/** The tables of resources: the path of their list, and the attribute with an item's id. */
export const resourceTables = {
  inventory: { path: '/inventory', id: tables.inventory.partitionKey.name },
  pets: { path: '/pets', id: tables.pets.partitionKey.name },
  orders: { path: '/store/orders', id: 'id' },
} as const satisfies Partial<Record<TableName, { path: string; id: string }>>;
/** Those whose items clients can read. */
export const readableTables = (
  Object.keys(resourceTables) as (keyof typeof resourceTables)[]
).filter((name) => paths.some((path) => `${path}/`.startsWith(`${resourceTables[name].path}/`)));

/** The id of an item by the path of its list, such as `/pets`, whether or not that list is an operation. */
export type KnownIds = Readonly<Partial<Record<string, string>>>;

/** A request that changes nothing, and the response that shows that the operation's function works. */
export interface Probe {
  readonly operation: Operation;
  readonly method: string;
  /** With its query, relative to the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** An error's code, a list with so many items or more, or the item with an id. */
  readonly expected: ErrorCode | { readonly minItems: number } | { readonly id: string };
}

/**
 * The probes of an operation: every route to its tables that one harmless request can take. The first is enough to test
 * the route to the function, the key, its table and the table's data.
 *
 * A list returns the first item, and a read the item of a known id. Without one, an unused id returns 404 after a lookup
 * in its table. A write with a `harmlessBody` has a known id only under a condition that no state of an item meets
 * (`If-None-Match: *`), and otherwise an unused one. With a read key it returns 403, as it does for every key if no
 * request to it is known to be harmless: then call it with a read key alone.
 * @param permission of the key
 */
export function buildProbes(
  operation: Operation,
  permission: Permission,
  knownIds: KnownIds = {},
): Probe[] {
  const { method, path, query = {}, requestHeaders = [], requestBody, harmlessBody } = operation;
  const isWrite = operation.permission === 'write';
  const hasCondition = isWrite && requestHeaders.includes('If-Match');
  const mayKnow =
    !isWrite || (permission === 'write' && hasCondition && harmlessBody !== undefined);
  const id = mayKnow ? knownIds[path.replace(/\/\{\w+\}$/, '')] : undefined;
  const probe: Probe = {
    operation,
    method,
    path: fillPath(path, id ?? UNUSED_ID),
    headers: {
      ...(requestBody && { 'Content-Type': 'application/json' }),
      ...(hasCondition && { 'If-None-Match': '*' }),
    },
    ...(harmlessBody !== undefined && { body: harmlessBody }),
    expected: id === undefined ? 'not_found' : isWrite ? 'precondition_failed' : { id },
  };
  if (isWrite) {
    const isHarmless = harmlessBody !== undefined || (path.includes('{') && !requestBody);
    const mayWrite = permission === 'write' && isHarmless && operation.errors.includes('not_found');
    return [withKey(mayWrite ? probe : { ...probe, expected: 'forbidden' })];
  }
  if (path.includes('{')) return [probe];
  const petId = id ?? UNUSED_ID;
  const searches = [
    ...('limit' in query ? ['?limit=1'] : []),
    ...('limit' in query && !operation.streamed ? [] : ['']),
    ...('petId' in query ? [`?petId=${petId}`, `?petId=${petId},0`] : []),
  ];
  const expected = { minItems: id === undefined ? 0 : 1 };
  return searches.map((search) => ({ ...probe, path: path + search, expected }));
}

/** With a new `Idempotency-Key`, if the operation requires one, since an outcome may be stored. */
function withKey(probe: Probe): Probe {
  if (!probe.operation.requestHeaders?.includes('Idempotency-Key')) return probe;
  const key = { 'Idempotency-Key': `probe-${randomUUID()}` };
  return { ...probe, headers: { ...probe.headers, ...key } };
}

/** Whether the response is the expected one and comes from the function: the gateway has errors with the same codes. */
export function isRight(
  { expected }: Pick<Probe, 'expected'>,
  status: number | undefined,
  body: string,
): boolean {
  const value = parseJson(body);
  if (typeof expected === 'string') {
    const { code, message } = Object(value);
    return status === statusOfCode[expected] && code === expected && !gatewayMessages.has(message);
  }
  if (status !== 200) return false;
  if ('minItems' in expected) return Array.isArray(value) && value.length >= expected.minItems;
  // As text, since JSON.parse rounds long ids.
  return body.startsWith('{') && new RegExp(`:${expected.id}[,}]`).test(body);
}

const gatewayMessages = new Set<string>(Object.values(gatewayErrors).map(({ message }) => message));

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
