import type { OperationId } from '../../../../shared/contract/operations.ts';
import type { StageRequest } from '../asking/sender.ts';
import type { Found } from './row.ts';

/** A tag that no entry has: even a service that finds an entry where there is none must not change it. */
export const neverTag = '"smoke"';

/** A request of each operation that is right in itself, and changes nothing. */
export function toValidRequest(operationId: OperationId, { missingPetId }: Found): StageRequest {
  const requests: Record<OperationId, StageRequest> = {
    listInventory: { path: '/inventory?limit=1' },
    updateInventory: toRefusedUpdate(`${missingPetId}`, {}),
    getPet: { path: `/pets/${missingPetId}` },
    listOrders: { path: '/store/orders?limit=1' },
  };
  return requests[operationId];
}

/** An update that nothing can match. */
export function toRefusedUpdate(
  petId: string,
  { type = 'application/json', body = '{"quantity":0}' },
): StageRequest {
  const headers = { 'Content-Type': type, 'If-Match': neverTag };
  return { method: 'PATCH', path: `/inventory/${petId}`, headers, body };
}
