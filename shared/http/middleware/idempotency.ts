import { InvalidRequest } from '../../contract/errors.ts';
import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../../contract/headers.ts';
import { type OperationMiddleware, type OperationRequest, toHeader } from '../operationRequest.ts';

/**
 * Reads `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). It adds the API key, so that requests of
 * different clients never collide.
 */
export function idempotency(): OperationMiddleware {
  function readIdempotencyKey(request: OperationRequest): void {
    const value = toHeader(request, 'idempotency-key');
    if (value === undefined) return;
    if (!/^[\x21-\x7e]+$/.test(value) || value.length > MAX_IDEMPOTENCY_KEY_LENGTH) {
      throw new InvalidRequest(
        `Idempotency-Key must be 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} visible ASCII characters.`,
      );
    }
    const { originId = '', keyId = '' } = request.internal.key ?? {};
    request.internal.idempotencyKey = `${originId} ${value}`;
    request.internal.formerKey = `${keyId} ${value}`;
  }

  return { before: readIdempotencyKey };
}
