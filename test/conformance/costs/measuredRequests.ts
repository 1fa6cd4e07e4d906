import type { Answer } from '../../../infra/costs/units/answerUnits.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operations } from '../../../shared/contract/operations.ts';
import { suites } from '../operations/suites.ts';
import type { ConformanceTarget, Sending } from '../target.ts';

/** A request that gets the answer whose units are measured. */
export interface MeasuredRequest extends Sending {
  /** Relative to the base address. */
  readonly path: string;
}

/** What is wrong about a request that is answered 400, where a path parameter cannot be. */
const invalidRequests: Readonly<Partial<Record<OperationId, Partial<MeasuredRequest>>>> = {
  updateInventory: { body: '{"quantity":-1}' },
  listOrders: { path: '/store/orders?cursor=abc' },
};

/**
 * How to get each answer but 429, which the gateway gives by itself: the operation's valid request, changed
 * by what the contract says leads to the answer.
 * @param tag that of the valid request's answer
 */
export function toMeasuredRequest(
  target: ConformanceTarget,
  id: OperationId,
  answer: Exclude<Answer, '429'>,
  tag: string,
): MeasuredRequest {
  const { path, body } = suites[id].toValidRequest(target);
  const { parameters }: Operation = operations[id];
  const invalid = { path: parameters ? toPath(id, 'abc') : `${path}?limit=0` };
  const changes: Partial<Record<Answer, Partial<MeasuredRequest>>> = {
    '200': {},
    '200 gzip': { headers: { 'Accept-Encoding': 'gzip' } },
    '200 zstd': { headers: { 'Accept-Encoding': 'zstd' } },
    '200 petId': { path: `${path}?petId=${target.fixtures.changeablePetId}` },
    '200 Idempotency-Key': {
      headers: { 'Idempotency-Key': '3f0c2f6e-4d6b-4c39-9f5a-6a1d6f0f7a11' },
    },
    '304': { headers: { 'If-None-Match': tag } },
    '400': invalidRequests[id] ?? invalid,
    '401': { apiKey: 'psk_not-a-key' },
    '403': { apiKey: target.readOnlyApiKey },
    '404': { path: toPath(id, `${target.fixtures.missingPetId}`) },
    // An entity tag that nothing has.
    '412': { headers: { 'If-Match': '"AAAAGQBh"' } },
  };
  const change = changes[answer];
  if (!change) {
    throw new Error(`Nobody knows how to get ${answer} of ${id}: say it in ${import.meta.url}.`);
  }
  const headers = { ...(body && { 'Content-Type': 'application/json' }), ...change.headers };
  return { path, ...(body && { body }), ...change, headers };
}

/** The operation's path with the same value for each of its parameters. */
export function toPath(id: OperationId, value: string): string {
  return operations[id].path.replaceAll(/\{\w+\}/g, value);
}
