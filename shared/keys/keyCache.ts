import type { KeyRecord, KeyStore } from './keyStore.ts';

/** How long a known key is believed: a revocation takes effect within this time. */
const KNOWN_MILLISECONDS = 60_000;
/** How long an unknown key id stays unknown: short, since a key just made should work. */
const UNKNOWN_MILLISECONDS = 5_000;
const MAX_ENTRIES = 1_000;

interface Entry {
  readonly record: KeyRecord | undefined;
  readonly expires: number;
}

/**
 * Reads keys through a bounded cache. Requests that miss at the same time share one read; a failed
 * read is not remembered. Unknown key ids have a cache of their own, so that a flood of them cannot
 * push out the keys in use.
 */
export function defineKeyCache(
  store: Pick<KeyStore, 'get'>,
  now: () => number,
): Pick<KeyStore, 'get'> {
  const known = new Map<string, Entry>();
  const unknown = new Map<string, Entry>();
  const pending = new Map<string, Promise<KeyRecord | undefined>>();

  async function read(keyId: string): Promise<KeyRecord | undefined> {
    const started = now();
    try {
      const record = await store.get(keyId);
      known.delete(keyId);
      unknown.delete(keyId);
      if (record) remember(known, keyId, { record, expires: started + KNOWN_MILLISECONDS });
      else remember(unknown, keyId, { record, expires: started + UNKNOWN_MILLISECONDS });
      return record;
    } finally {
      pending.delete(keyId);
    }
  }

  return {
    async get(keyId) {
      const entry = known.get(keyId) ?? unknown.get(keyId);
      if (entry && now() < entry.expires) return entry.record;
      const reading = pending.get(keyId) ?? read(keyId);
      pending.set(keyId, reading);
      return reading;
    },
  };
}

/** A map keeps the order of insertion, so its first key is the oldest. */
function remember(entries: Map<string, Entry>, keyId: string, entry: Entry): void {
  const [oldest] = entries.keys();
  if (entries.size >= MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
  entries.set(keyId, entry);
}
