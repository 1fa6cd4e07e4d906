import { InvalidRequest } from '../../contract/errors.ts';
import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../../contract/headers.ts';
import { type OperationMiddleware, type OperationRequest, toHeader } from '../operationRequest.ts';

/**
 * Reads `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). It adds the key id, so that requests of
 * different API keys never collide.
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
