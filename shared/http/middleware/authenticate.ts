import { Forbidden, Unauthorized } from '../../contract/errors.ts';
import type { Permission } from '../../contract/operation.ts';
import type { KeyVerifier } from '../../keys/keyVerifier.ts';
import type { OperationMiddleware, OperationRequest } from '../operationRequest.ts';

/**
 * Requires exactly one `Authorization: Bearer <API_KEY>` (RFC 6750 section 2.1), with a valid key that has the
 * permission. The scheme is case-insensitive (RFC 9110 section 11.1). The function's own warm-up, which no client can
 * send, needs no valid key.
 */
export function authenticate(verifier: KeyVerifier, permission: Permission): OperationMiddleware {
  async function verifyKey({ internal }: OperationRequest): Promise<void> {
    const apiKey = toApiKey(internal.headers.get('authorization') ?? []);
    const before = internal.units.read;
    try {
      internal.key = await verifier.verify(apiKey);
    } catch (error) {
      if (!(internal.isWarmUp && error instanceof Unauthorized)) throw error;
      internal.key = { keyId: '', name: '', permission, originId: '' };
    } finally {
      internal.keyReadUnits = internal.units.read - before;
    }
    if (permission === 'write' && internal.key.permission !== 'write') throw new Forbidden();
  }

  return { before: verifyKey };
}

function toApiKey(lines: readonly string[]): string {
  if (lines.length > 1) throw new Unauthorized(true, 'several Authorization headers');
  const [, apiKey] = /^bearer +(\S.*)$/i.exec(lines[0] ?? '') ?? [];
  if (apiKey === undefined) throw new Unauthorized(false, 'no bearer credentials');
  return apiKey;
}
