import { beforeEach, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../shared/contract/errors.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import type { KeyRecord } from '../../../shared/keys/keyStore.ts';
import { defineKeyVerifier, type KeyVerifier } from '../../../shared/keys/keyVerifier.ts';

const START = Date.parse('2026-12-01T00:00:00Z');
const minted = mintApiKey();

let now: number;
let reads: number;
let readTakes: number;
let isDown: boolean;
let records: Map<string, KeyRecord>;
let verifier: KeyVerifier;

beforeEach(() => {
  now = START;
  reads = 0;
  readTakes = 0;
  isDown = false;
  records = new Map();
  write({});
  const store = {
    async get(keyId: string) {
      reads++;
      now += readTakes;
      if (isDown) throw new StoreUnavailable(new Error('down'));
      return records.get(keyId);
    },
  };
  verifier = defineKeyVerifier(store, () => now);
});

function write(change: Partial<KeyRecord>): void {
  const { keyId, secretHash } = minted;
  const createdAt = new Date(START).toISOString();
  records.set(keyId, {
    keyId,
    secretHash,
    name: 'storefront-web',
    permission: 'read',
    createdAt,
    ...change,
  });
}

function at(offset: number): string {
  return new Date(START + offset).toISOString();
}

describe('a key', () => {
  it('is verified with its name and permission', async () => {
    expect(await verifier.verify(minted.apiKey)).toEqual({
      keyId: minted.keyId,
      name: 'storefront-web',
      permission: 'read',
    });
  });

  it('is refused without a read when it is malformed', async () => {
    await expect(verifier.verify(`${minted.apiKey}x`)).rejects.toMatchObject({
      reason: 'malformed key',
    });
    expect(reads).toBe(0);
  });

  it('is refused when its secret is another key’s', async () => {
    const impostor = mintApiKey(minted.keyId);
    await expect(verifier.verify(impostor.apiKey)).rejects.toMatchObject({
      reason: 'wrong secret',
      keyId: minted.keyId,
    });
  });

  it('works until the instant it expires', async () => {
    write({ expiresAt: at(1_000) });
    now = START + 999;
    await verifier.verify(minted.apiKey);
    now = START + 1_000;
    await expect(verifier.verify(minted.apiKey)).rejects.toMatchObject({ reason: 'expired key' });
  });

  it('works through the grace of a rotation, whose end lies ahead', async () => {
    write({ revokedAt: at(1_000) });
    await verifier.verify(minted.apiKey);
    now = START + 1_000;
    await expect(verifier.verify(minted.apiKey)).rejects.toMatchObject({ reason: 'revoked key' });
  });

  it('is believed for 60 s from when its read began, since it may be revoked during the read', async () => {
    readTakes = 10_000;
    await verifier.verify(minted.apiKey);
    now = START + 59_999;
    await verifier.verify(minted.apiKey);
    expect(reads).toBe(1);
    now = START + 60_000;
    await verifier.verify(minted.apiKey);
    expect(reads).toBe(2);
  });

  it('stops working at most 60 s after it is revoked', async () => {
    await verifier.verify(minted.apiKey);
    write({ revokedAt: at(1) });
    now = START + 59_999;
    await verifier.verify(minted.apiKey);
    now = START + 60_000;
    await expect(verifier.verify(minted.apiKey)).rejects.toMatchObject({ reason: 'revoked key' });
  });
});

describe('the cache', () => {
  it('lets concurrent first requests share one read', async () => {
    await Promise.all(Array.from({ length: 50 }, () => verifier.verify(minted.apiKey)));
    expect(reads).toBe(1);
  });

  it('leaves a read that is a second old to who waits for it, whose time may be over', async () => {
    const hang = Promise.withResolvers<undefined>();
    const get = async (keyId: string) => (++reads === 1 ? hang.promise : records.get(keyId));
    verifier = defineKeyVerifier({ get }, () => now);
    const early = [verifier.verify(minted.apiKey)];
    now = START + 999;
    early.push(verifier.verify(minted.apiKey));
    expect(reads).toBe(1);
    now = START + 1_000;
    await verifier.verify(minted.apiKey);
    expect(reads).toBe(2);
    hang.reject(new StoreUnavailable(new Error('out of time')));
    for (const each of early) await expect(each).rejects.toBeInstanceOf(StoreUnavailable);
    await verifier.verify(minted.apiKey);
    expect(reads).toBe(2);
  });

  it('shares the later of two reads while the earlier one ends', async () => {
    const hangs = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const get = (_: string) => hangs[reads++]?.promise ?? Promise.resolve(undefined);
    verifier = defineKeyVerifier({ get }, () => now);
    const early = verifier.verify(minted.apiKey);
    now = START + 1_000;
    const late = [verifier.verify(minted.apiKey)];
    hangs[0]?.reject(new StoreUnavailable(new Error('out of time')));
    await expect(early).rejects.toBeInstanceOf(StoreUnavailable);
    late.push(verifier.verify(minted.apiKey));
    hangs[1]?.resolve(undefined);
    for (const each of late) await expect(each).rejects.toMatchObject({ reason: 'unknown key' });
    expect(reads).toBe(2);
  });

  it('reads an unknown key id again only after 5 s', async () => {
    records.clear();
    for (let count = 0; count < 1_000; count++) {
      await expect(verifier.verify(minted.apiKey)).rejects.toMatchObject({ reason: 'unknown key' });
    }
    expect(reads).toBe(1);
    write({});
    now = START + 5_000;
    await verifier.verify(minted.apiKey);
    expect(reads).toBe(2);
  });

  it('keeps a key in use through a flood of unknown key ids', async () => {
    await verifier.verify(minted.apiKey);
    for (let count = 0; count < 1_500; count++) {
      await expect(verifier.verify(mintApiKey().apiKey)).rejects.toThrow();
    }
    reads = 0;
    await verifier.verify(minted.apiKey);
    expect(reads).toBe(0);
  });

  it('keeps at most 1,000 unknown key ids', async () => {
    const flood = Array.from({ length: 1_001 }, () => mintApiKey().apiKey);
    for (const apiKey of flood) await expect(verifier.verify(apiKey)).rejects.toThrow();
    reads = 0;
    for (const kept of [flood[1], flood[500], flood[1_000]]) {
      await expect(verifier.verify(kept as string)).rejects.toThrow();
    }
    expect(reads).toBe(0);
    await expect(verifier.verify(flood[0] as string)).rejects.toThrow();
    expect(reads).toBe(1);
  });

  it('is asked again after a key was deleted, and forgets it', async () => {
    await verifier.verify(minted.apiKey);
    records.clear();
    now = START + 60_000;
    await expect(verifier.verify(minted.apiKey)).rejects.toMatchObject({ reason: 'unknown key' });
    await expect(verifier.verify(minted.apiKey)).rejects.toMatchObject({ reason: 'unknown key' });
    expect(reads).toBe(2);
  });
});

describe('an unreachable key table', () => {
  it('leaves a key verified within 60 s working, and no longer', async () => {
    await verifier.verify(minted.apiKey);
    isDown = true;
    now = START + 59_999;
    await verifier.verify(minted.apiKey);
    now = START + 60_000;
    await expect(verifier.verify(minted.apiKey)).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('lets no other key in, says 503 and not 401, and is forgotten once it is back', async () => {
    isDown = true;
    await expect(verifier.verify(minted.apiKey)).rejects.toBeInstanceOf(StoreUnavailable);
    isDown = false;
    await verifier.verify(minted.apiKey);
  });
});
