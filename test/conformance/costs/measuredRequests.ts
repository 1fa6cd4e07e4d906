import type { answersOf } from '../../../infra/costs/units/answers.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import type { Sending } from '../target.ts';

/** A request that gets the answer whose units are measured. */
export interface MeasuredRequest extends Omit<Sending, 'apiKey'> {
  /** Relative to the base address. */
  readonly path: string;
  /** The key to send; that with write permission by default. */
  readonly key?: 'read' | 'invalid';
}

/** Every answer but 429, which the gateway gives by itself. */
type MeasuredRequests = {
  readonly [Id in OperationId]: Readonly<
    Record<Exclude<(typeof answersOf)[Id][number], '429'>, MeasuredRequest>
  >;
};

/**
 * @param petId an id that the inventory has, with as many digits as most
 * @param tag the list's tag
 */
export function toMeasuredRequests(petId: string, tag: string): MeasuredRequests {
  const entry = `/inventory/${petId}`;
  const headers = { 'Content-Type': 'application/json' };
  const update = { path: entry, headers, body: '{"quantity":8}' };
  const missing = '-9223372036854775808';
  const key = 'invalid';
  return {
    listInventory: {
      '200': { path: '/inventory' },
      '200 gzip': { path: '/inventory', headers: { 'Accept-Encoding': 'gzip' } },
      '200 zstd': { path: '/inventory', headers: { 'Accept-Encoding': 'zstd' } },
      '200 petId': { path: `/inventory?petId=${petId}` },
      '304': { path: '/inventory', headers: { 'If-None-Match': tag } },
      '400': { path: '/inventory?limit=0' },
      '401': { path: '/inventory', key },
    },
    updateInventory: {
      '200': update,
      '200 Idempotency-Key': {
        ...update,
        headers: { ...headers, 'Idempotency-Key': '3f0c2f6e-4d6b-4c39-9f5a-6a1d6f0f7a11' },
      },
      '400': { ...update, body: '{"quantity":-1}' },
      '401': { ...update, key },
      '403': { ...update, key: 'read' },
      '404': { ...update, path: `/inventory/${missing}` },
      '412': { ...update, headers: { ...headers, 'If-Match': '"AAAAGQBh"' } },
    },
    getPet: {
      '200': { path: '/pets/7' },
      '400': { path: '/pets/abc' },
      '401': { path: '/pets/7', key },
      '404': { path: `/pets/${missing}` },
    },
    listOrders: {
      '200': { path: '/store/orders' },
      '400': { path: '/store/orders?cursor=abc' },
      '401': { path: '/store/orders', key },
    },
  };
}
