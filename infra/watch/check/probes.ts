import { type ErrorCode, statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { gatewayErrors } from '../../gateway/gatewayErrors.ts';

/** How the scheduled check names itself, and how its requests are told from those of clients. */
export const checkAgent = 'petstore-check';

/** A harmless request to an operation, and the answer that proves that its function does its work. */
export interface Probe {
  readonly operationId: OperationId;
  readonly method: string;
  /** With its query; relative to the base address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The error that is right; none where a list is. */
  readonly code: ErrorCode | undefined;
}

/** Made up, so that nothing has it. */
const UNUSED_ID = '-8070450532247928833';

/**
 * One for each operation, all with a read key: the first entry of a list; 404 of an id that nothing has, which is
 * looked up in its table; and 403 of a write. That proves the way to the function, the key and its table, and not
 * that a write would succeed. With `If-None-Match: *`, nothing is written either, should the key be allowed to.
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

/** Whether a probe got the answer that is right, and from the function: the gateway has errors of the same codes. */
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
