import { Forbidden, Unauthorized } from '../../contract/errors.ts';
import type { Permission } from '../../contract/operation.ts';
import type { KeyVerifier } from '../../keys/keyVerifier.ts';
import {
  type OperationMiddleware,
  type OperationRequest,
  readHeader,
} from '../operationRequest.ts';
import { inTime } from '../requestTime.ts';

/**
 * Requires exactly one `Authorization: Bearer <API_KEY>` (RFC 6750 section 2.1), with a valid key that has the
 * permission. The scheme is case-insensitive (RFC 9110 section 11.1). The function's own warm-up, which no client can
 * send, needs no valid key.
 */
export function authenticate(verifier: KeyVerifier, permission: Permission): OperationMiddleware {
  async function verifyKey(request: OperationRequest): Promise<void> {
    const { internal } = request;
    // Several headers, joined, are not a valid key.
    const apiKey = readHeader(request, 'authorization')?.match(/^bearer +(\S.*)$/i)?.[1];
    if (apiKey === undefined) throw new Unauthorized(false, 'no bearer credentials');
    try {
      internal.key = await inTime(internal, verifier.verify(apiKey));
    } catch (error) {
      if (internal.isWarmUp && error instanceof Unauthorized) return;
      throw error;
    } finally {
      // Nothing else has read yet.
      internal.keyReadUnits = internal.units.read;
    }
    if (permission === 'write' && internal.key.permission !== 'write') throw new Forbidden();
  }

  return { before: verifyKey };
}
