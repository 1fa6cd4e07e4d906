import { InvalidRequest } from '../../contract/errors/errors.ts';
import { type OperationMiddleware, type OperationRequest, toHeader } from '../operationRequest.ts';

/**
 * Reads `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). What clients choose is their own
 * affair: one API key's requests are never taken for another's.
 */
export function idempotency(): OperationMiddleware {
  function readIdempotencyKey(request: OperationRequest): void {
    const { internal } = request;
    const value = toHeader(request, 'idempotency-key');
    if (value === undefined) return;
    if (!/^[\x21-\x7e]{1,255}$/.test(value)) {
      throw new InvalidRequest('Idempotency-Key must be 1 to 255 visible ASCII characters.');
    }
    internal.idempotencyKey = `${internal.key?.keyId} ${value}`;
  }

  return { before: readIdempotencyKey };
}
