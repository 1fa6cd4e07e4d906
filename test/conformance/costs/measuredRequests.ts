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

/** An entity tag that nothing has. */
const staleTag = '"AAAAGQBh"';

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
  const type: Record<string, string> = body ? { 'Content-Type': 'application/json' } : {};
  const valid = { path, headers: type, ...(body && { body }) };
  const withHeader = (name: string, value: string) => ({
    ...valid,
    headers: { ...type, [name]: value },
  });
  const withParameter = (value: string) => ({ ...valid, path: toPath(id, value) });
  switch (answer) {
    case '200':
      return valid;
    case '200 gzip':
    case '200 zstd':
      return withHeader('Accept-Encoding', answer.slice(4));
    case '200 petId':
      return { ...valid, path: `${path}?petId=${target.fixtures.changeablePetId}` };
    case '200 Idempotency-Key':
      return withHeader('Idempotency-Key', '3f0c2f6e-4d6b-4c39-9f5a-6a1d6f0f7a11');
    case '304':
      return withHeader('If-None-Match', tag);
    case '400': {
      const { parameters }: Operation = operations[id];
      const invalid = parameters ? withParameter('abc') : { ...valid, path: `${path}?limit=0` };
      return id in invalidRequests ? { ...valid, ...invalidRequests[id] } : invalid;
    }
    case '401':
      return { ...valid, apiKey: 'psk_not-a-key' };
    case '403':
      return { ...valid, apiKey: target.readOnlyApiKey };
    case '404':
      return withParameter(`${target.fixtures.missingPetId}`);
    case '412':
      return withHeader('If-Match', staleTag);
    default:
      throw new Error(`Nobody knows how to get ${answer} of ${id}: say it in ${import.meta.url}.`);
  }
}

/** The operation's path with the same value for each of its parameters. */
export function toPath(id: OperationId, value: string): string {
  return operations[id].path.replaceAll(/\{\w+\}/g, value);
}
