import { type ErrorCode, statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { gatewayErrors } from '../../gateway/gatewayErrors.ts';

/** The User-Agent of the scheduled check, which tells its requests from those of clients. */
export const checkAgent = 'petstore-check';

/** A harmless request to an operation, and the response that proves that its function works. */
export interface Probe {
  readonly operationId: OperationId;
  readonly method: string;
  /** With its query, relative to the base address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The expected error; `undefined` if a list is expected. */
  readonly code: ErrorCode | undefined;
}

/** Made up; nothing has this id. */
const UNUSED_ID = '-8070450532247928833';

/**
 * One probe for each operation, all with a read key. A list returns its first entry, an unused id 404 after a lookup in
 * its table, and a write 403. This proves the way to the function, the key and its table, but not that a write would
 * succeed. `If-None-Match: *` prevents a write even if the key has write permission.
 */
export const probes: readonly Probe[] = operationIds.map((operationId) => {
  const { method, path, permission, query }: Operation = operations[operationId];
  const isWrite = permission === 'write';
  const named = path.replaceAll(/\{\w+\}/g, UNUSED_ID);
  const read = named === path ? undefined : 'not_found';
  return {
    operationId,
    method,
    path: query && 'limit' in query ? `${named}?limit=1` : named,
    headers: isWrite ? { 'If-None-Match': '*' } : {},
    code: isWrite ? 'forbidden' : read,
  };
});

/** Whether the response is the expected one and comes from the function: the gateway has errors with the same codes. */
export function isRight({ code }: Probe, status: number | undefined, body: string): boolean {
  const value = parseJson(body);
  if (code === undefined) return status === 200 && Array.isArray(value);
  const { code: found, message } = Object(value);
  return status === statusOfCode[code] && found === code && !gatewayMessages.has(message);
}

const gatewayMessages = new Set<string>(Object.values(gatewayErrors).map(({ message }) => message));

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
