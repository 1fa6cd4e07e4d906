import { InvalidRequest } from '../../contract/errors.ts';
import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../../contract/headers.ts';
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
    if (!/^[\x21-\x7e]+$/.test(value) || value.length > MAX_IDEMPOTENCY_KEY_LENGTH) {
      throw new InvalidRequest(
        `Idempotency-Key must be 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} visible ASCII characters.`,
      );
    }
    internal.idempotencyKey = `${internal.key?.keyId} ${value}`;
  }

  return { before: readIdempotencyKey };
}
