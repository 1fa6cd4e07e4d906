import { Unauthorized } from '../contract/errors.ts';
import type { Permission } from '../contract/operation.ts';
import { matchesSecretHash, parseApiKey } from './apiKey.ts';
import { defineKeyCache } from './keyCache.ts';
import { isReadable, type KeyRecord, type KeyStore } from './keyStore.ts';

export interface VerifiedKey {
  readonly keyId: string;
  readonly name: string;
  readonly permission: Permission;
}

export interface KeyVerifier {
  /**
   * @throws {Unauthorized} when the key is malformed, unknown, wrong, expired or revoked, or its record
   *   cannot be read: one that was edited by hand must not let in whom it was to keep out
   * @throws {StoreUnavailable} when the table has to be asked and cannot be reached
   */
  verify(apiKey: string): Promise<VerifiedKey>;
}

/** @param now the clock, in milliseconds since the epoch */
export function defineKeyVerifier(
  store: Pick<KeyStore, 'get'>,
  now: () => number = Date.now,
): KeyVerifier {
  const cache = defineKeyCache(store, now);
  return {
    async verify(apiKey) {
      const parsed = parseApiKey(apiKey);
      if (!parsed) throw new Unauthorized(true, 'malformed key');
      const { keyId, secret } = parsed;
      const record = await cache.get(keyId);
      if (!record) throw new Unauthorized(true, 'unknown key', keyId);
      const refusal = toRefusal(record, secret, now());
      if (refusal) throw new Unauthorized(true, refusal, keyId);
      return { keyId, name: record.name, permission: record.permission };
    },
  };
}

/** Why the key is refused, for the log; a client is never told which it was. */
function toRefusal(record: KeyRecord, secret: string, now: number): string | undefined {
  if (!isReadable(record)) return 'unreadable record';
  if (!matchesSecretHash(secret, record.secretHash)) return 'wrong secret';
  if (isPast(record.revokedAt, now)) return 'revoked key';
  if (isPast(record.expiresAt, now)) return 'expired key';
  return undefined;
}

function isPast(time: string | undefined, now: number): boolean {
  return time !== undefined && Date.parse(time) <= now;
}
