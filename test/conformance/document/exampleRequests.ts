import type { ErrorCode } from '../../../shared/contract/errors/errorBody.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import type { Sending } from '../target.ts';

/** A request that shows what an operation answers. */
export interface ExampleRequest extends Omit<Sending, 'apiKey' | 'body'> {
  readonly summary: string;
  /** Relative to the base address. */
  readonly path: string;
  /** The error that is to come; an answer of 200, when there is none. */
  readonly code?: ErrorCode;
  readonly body?: unknown;
  /** The key to send; that with write permission by default. */
  readonly key?: 'read' | 'none' | 'invalid';
}

/** By name. What fails only where something is broken, or too busy, is asked for elsewhere. */
export const exampleRequests: Readonly<Record<OperationId, Record<string, ExampleRequest>>> = {
  listInventory: {
    byId: { summary: 'Two entries by their ids', path: '/inventory?petId=7,8' },
    withTags: { summary: 'An entry with its tag', path: '/inventory?petId=7&include=etag' },
    badLimit: { summary: 'A limit of 0', path: '/inventory?limit=0', code: 'invalid_request' },
    ...withoutKey('/inventory'),
  },
  updateInventory: {
    sold: {
      summary: 'One of nine was sold',
      path: '/inventory/7',
      ...update({ quantity: 8 }),
    },
    badQuantity: {
      summary: 'A negative stock count',
      path: '/inventory/7',
      ...update({ quantity: -1 }),
      code: 'invalid_request',
    },
    ...withoutKey('/inventory/7', update({ quantity: 8 })),
    readKey: {
      summary: 'A key that allows reading alone',
      path: '/inventory/7',
      ...update({ quantity: 8 }),
      key: 'read',
      code: 'forbidden',
    },
    unknownId: {
      summary: 'An id that no entry has',
      path: '/inventory/999999',
      ...update({ quantity: 8 }),
      code: 'not_found',
    },
    changedSince: {
      summary: 'The entry has changed since',
      path: '/inventory/7',
      ...update({ quantity: 8 }, { 'If-Match': '"AAAAGQBh"' }),
      code: 'precondition_failed',
    },
    notJson: {
      summary: 'A body that is not said to be JSON',
      path: '/inventory/7',
      ...update({ quantity: 8 }, { 'Content-Type': 'text/plain' }),
      code: 'unsupported_media_type',
    },
  },
  getPet: {
    cat: { summary: 'A cat', path: '/pets/11' },
    badId: { summary: 'An id that is no number', path: '/pets/abc', code: 'invalid_request' },
    ...withoutKey('/pets/11'),
    unknownId: { summary: 'An id that no pet has', path: '/pets/999999', code: 'not_found' },
  },
  listOrders: {
    newest: { summary: 'The two newest orders', path: '/store/orders?limit=2' },
    badCursor: {
      summary: 'A cursor that was made up',
      path: '/store/orders?cursor=abc',
      code: 'invalid_request',
    },
    ...withoutKey('/store/orders'),
  },
};

function withoutKey(path: string, sending: Pick<ExampleRequest, 'headers' | 'body'> = {}) {
  return {
    noKey: { summary: 'No API key', path, ...sending, key: 'none', code: 'unauthorized' },
    invalidKey: {
      summary: 'A key that is not valid',
      path,
      ...sending,
      key: 'invalid',
      code: 'unauthorized',
    },
  } as const satisfies Record<string, ExampleRequest>;
}

function update(body: unknown, headers: Record<string, string> = {}) {
  return { body, headers: { 'Content-Type': 'application/json', ...headers } };
}
