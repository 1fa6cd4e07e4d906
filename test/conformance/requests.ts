import type { OperationId } from '../../shared/contract/operations.ts';
import type { ExactResponse } from '../support/exactFetch.ts';
import { type ConformanceTarget, type Sending, send } from './target.ts';

interface ValidRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

/**
 * One request of each operation that the service answers with 200. Written out here and not read from
 * the contract, so that a mistake in the contract shows. The update sets the quantity that the entry
 * already has; where nothing may be changed, it names an entry that does not exist.
 */
const validRequests: Record<OperationId, (target: ConformanceTarget) => ValidRequest> = {
  listInventory: () => ({ method: 'GET', path: '/inventory' }),
  updateInventory: ({ fixtures }) => ({
    method: 'PATCH',
    path: `/inventory/${fixtures.changeablePetId}`,
    body: `{"quantity":${findChangeable(fixtures)?.quantity ?? 0}}`,
  }),
  getPet: ({ fixtures }) => ({ method: 'GET', path: `/pets/${fixtures.pets[0]?.id}` }),
  listOrders: () => ({ method: 'GET', path: '/store/orders' }),
};

export const operationIds = Object.keys(validRequests) as OperationId[];

/** Sends the operation's valid request; `sending` changes the key, adds headers or replaces the body. */
export function sendValid(
  target: ConformanceTarget,
  operationId: OperationId,
  { headers, ...sending }: Sending = {},
): Promise<ExactResponse> {
  const { method, path, ...content } = validRequests[operationId](target);
  const type: Record<string, string> =
    content.body === undefined ? {} : { 'Content-Type': 'application/json' };
  return send(target, method, path, { ...content, ...sending, headers: { ...type, ...headers } });
}

/** The entry that may be changed, as the fixtures have it. */
export function changeableEntry(fixtures: ConformanceTarget['fixtures']) {
  const entry = findChangeable(fixtures);
  if (entry === undefined) throw new Error('The fixtures have no changeable entry.');
  return entry;
}

function findChangeable({ inventory, changeablePetId }: ConformanceTarget['fixtures']) {
  return inventory.find(({ petId }) => petId === changeablePetId);
}
