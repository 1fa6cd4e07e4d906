import { randomUUID } from 'node:crypto';
import { type ErrorCode, statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { fillPath } from '../../../shared/contract/paths.ts';
import { gatewayErrors } from '../../gateway/gatewayErrors.ts';
import { type TableName, tables } from '../../stages/tables.ts';

/** The User-Agent of the scheduled check, which tells its requests from those of clients. */
export const checkAgent = 'petstore-check';

/** The tables whose items clients can read: the path of their list, and the attribute with an item's id. */
export const readTables = {
  inventory: { path: '/inventory', id: tables.inventory.partitionKey.name },
  pets: { path: '/pets', id: tables.pets.partitionKey.name },
  orders: { path: '/store/orders', id: 'id' },
} as const satisfies Partial<Record<TableName, { path: string; id: string }>>;
export type ReadTable = keyof typeof readTables;
export const readTableNames = Object.keys(readTables) as ReadTable[];

/** The id of an item of each table; `undefined` for a table without items. */
export type KnownIds = Readonly<Partial<Record<ReadTable, string>>>;

/** A harmless request to an operation, and the response that proves that its function works. */
export interface Probe {
  readonly operationId: OperationId;
  readonly method: string;
  /** With its query, relative to the base address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** An error's code, any list, a list that is not empty, or the item with an id. */
  readonly expected: ErrorCode | 'list' | 'items' | { readonly id: string };
}

/** Made up; nothing has this id. */
const UNUSED_ID = '-8070450532247928833';

/**
 * One probe for each operation, all with a read key. A list returns the first item, and a read the item of a known id.
 * Without one, an unused id returns 404 after a lookup in its table. A write returns 403. This proves the way to the
 * function, the key, its table and the table's data, but not that a write would succeed. `If-None-Match: *` prevents a
 * write even if the key has write permission.
 */
export function toProbes(knownIds: KnownIds = {}): Probe[] {
  return operationIds.map((id) => ({
    operationId: id,
    ...toRequest(operations[id], knownIds),
  }));
}

/**
 * The requests that a new version must pass: every way to its tables that one request can take. The key has the
 * operation's own permission, unless 403 is expected. No stock count changes: no state of an entry matches
 * `If-None-Match: *`, and the adjustment is of an id that nothing has.
 */
export function toProofs(operationId: OperationId, knownIds: KnownIds): Probe[] {
  const probe: Probe = { operationId, ...toRequest(operations[operationId], knownIds) };
  const { inventory: id = UNUSED_ID } = knownIds;
  switch (operationId) {
    case 'listInventory':
      return ['?limit=1', '', `?petId=${id}`, `?petId=${id},0`].map((query) => ({
        ...probe,
        path: `/inventory${query}`,
      }));
    case 'updateInventory': {
      const headers = { ...probe.headers, 'Content-Type': 'application/json' };
      const expected = knownIds.inventory === undefined ? 'not_found' : 'precondition_failed';
      const path = `/inventory/${id}`;
      const update: Probe = { ...probe, path, headers, body: '{"quantity":0}', expected };
      return [update, { ...update, headers: { ...headers, 'Idempotency-Key': 'deployment' } }];
    }
    case 'adjustInventory': {
      // Its outcome is stored for 30 days, so each request needs its own key. No harmless request proves the read after
      // an adjustment: it needs one that took effect.
      const key = `deployment-${randomUUID()}`;
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key };
      const body = `{"adjustments":[{"petId":${UNUSED_ID},"delta":-1}]}`;
      return [{ ...probe, headers, body, expected: 'not_found' }];
    }
    default:
      return [probe];
  }
}

/** Knows data only at the path of a table's list, and of an item below it. Other lists may be empty. */
export function toRequest(
  { method, path, permission, query }: Pick<Operation, 'method' | 'path' | 'permission' | 'query'>,
  knownIds: KnownIds,
): Omit<Probe, 'operationId'> {
  const listPath = path.replace(/\/\{\w+\}$/, '');
  const table = readTableNames.find((name) => readTables[name].path === listPath);
  const id = permission === 'read' && table ? knownIds[table] : undefined;
  const named = fillPath(path, id ?? UNUSED_ID);
  const read = id === undefined ? 'not_found' : { id };
  const list = id === undefined ? 'list' : 'items';
  return {
    method,
    path: query && 'limit' in query ? `${named}?limit=1` : named,
    headers: permission === 'write' ? { 'If-None-Match': '*' } : {},
    expected: permission === 'write' ? 'forbidden' : named === path ? list : read,
  };
}

/** Whether the response is the expected one and comes from the function: the gateway has errors with the same codes. */
export function isRight({ expected }: Probe, status: number | undefined, body: string): boolean {
  const value = parseJson(body);
  if (expected === 'list' || expected === 'items') {
    return status === 200 && Array.isArray(value) && (expected === 'list' || value.length > 0);
  }
  // As text, since JSON.parse rounds long ids.
  if (typeof expected === 'object') {
    return status === 200 && body.startsWith('{') && new RegExp(`:${expected.id}[,}]`).test(body);
  }
  const { code, message } = Object(value);
  return status === statusOfCode[expected] && code === expected && !gatewayMessages.has(message);
}

const gatewayMessages = new Set<string>(Object.values(gatewayErrors).map(({ message }) => message));

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
