import { Unauthorized } from '../contract/errors.ts';
import { matchesSecretHash, parseApiKey } from './apiKey.ts';
import { isReadable, type KeyRecord, type KeyStore } from './keyStore.ts';

export type VerifiedKey = Pick<KeyRecord, 'keyId' | 'name' | 'permission'> &
  Required<Pick<KeyRecord, 'originId'>>;

export type KeyVerifier = ReturnType<typeof defineKeyVerifier>;

/** @param now the clock, in milliseconds since the epoch */
export function defineKeyVerifier(store: KeyStore, now: () => number = Date.now) {
  const cache = defineKeyCache(store, now);
  return {
    /**
     * @throws {Unauthorized} if the key is malformed, unknown, wrong, expired or revoked, or its record is unreadable:
     *   a mistake in a hand-edited record must not grant access
     * @throws {StoreUnavailable} if the key is not cached and the table cannot be reached
     */
    async verify(apiKey: string): Promise<VerifiedKey> {
      const parsed = parseApiKey(apiKey);
      if (!parsed) throw new Unauthorized(true, 'malformed key');
      const { keyId, secret } = parsed;
      const record = await cache.get(keyId);
      if (!record) throw new Unauthorized(true, 'unknown key', keyId);
      const refusal = explainRefusal(record, secret, now());
      if (refusal) throw new Unauthorized(true, refusal, keyId);
      const { name, permission, originId = keyId } = record;
      return { keyId, name, permission, originId };
    },
  };
}

/** Why the key is refused, only for the log; the client never learns it. */
function explainRefusal(record: KeyRecord, secret: string, now: number): string | undefined {
  if (!isReadable(record)) return 'unreadable record';
  if (!matchesSecretHash(secret, record.secretHash)) return 'wrong secret';
  if (isPast(record.revokedAt, now)) return 'revoked key';
  if (isPast(record.expiresAt, now)) return 'expired key';
  return undefined;
}

function isPast(time: string | undefined, now: number): boolean {
  return time !== undefined && Date.parse(time) <= now;
}

/** How long a known key is cached: a revocation takes effect within this time. */
const KNOWN_MILLISECONDS = 60_000;
/** How long an unknown key id is cached: short, since a new key should work soon. */
const UNKNOWN_MILLISECONDS = 5_000;
/**
 * How long other requests join a pending read. The request that started it may already have timed out on an
 * unresponsive connection; the read fails at that request's deadline.
 */
const JOIN_MILLISECONDS = 1_000;
const MAX_ENTRIES = 1_000;

interface Entry {
  readonly record: KeyRecord | undefined | Promise<KeyRecord | undefined>;
  readonly expires: number;
}

/**
 * Reads keys through a bounded cache. Concurrent misses share one read, and a failed read is not cached. Unknown key
 * ids have their own cache, so that a flood of them cannot evict keys in use.
 */
function defineKeyCache(store: KeyStore, now: () => number): KeyStore {
  const known = new Map<string, Entry>();
  const unknown = new Map<string, Entry>();
  const pending = new Map<string, Entry>();

  async function read(keyId: string, started: number): Promise<KeyRecord | undefined> {
    const record = await store.get(keyId);
    known.delete(keyId);
    unknown.delete(keyId);
    if (record) remember(known, keyId, { record, expires: started + KNOWN_MILLISECONDS });
    else remember(unknown, keyId, { record, expires: started + UNKNOWN_MILLISECONDS });
    return record;
  }

  return {
    async get(keyId) {
      const started = now();
      const entries = [known, unknown, pending].map((all) => all.get(keyId));
      const entry = entries.find((one) => one && started < one.expires);
      if (entry) return entry.record;
      const reading = { record: read(keyId, started), expires: started + JOIN_MILLISECONDS };
      pending.set(keyId, reading);
      return reading.record.finally(() => {
        if (pending.get(keyId) === reading) pending.delete(keyId);
      });
    },
  };
}

/** A map keeps the order of insertion, so its first key is the oldest. */
function remember(entries: Map<string, Entry>, keyId: string, entry: Entry): void {
  if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
  entries.set(keyId, entry);
}
