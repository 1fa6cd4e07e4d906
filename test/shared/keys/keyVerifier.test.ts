import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../shared/contract/errors.ts';
import {
  hookKeyIds,
  matchesSecretHash,
  mintApiKey,
  parseApiKey,
  randomHookKeyId,
  randomKeyId,
} from '../../../shared/keys/apiKey.ts';
import { defineKeyStore, type KeyRecord } from '../../../shared/keys/keyStore.ts';
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
  verifier = defineKeyVerifier({ get: read }, () => now);
});

async function read(keyId: string): Promise<KeyRecord | undefined> {
  reads++;
  now += readTakes;
  if (isDown) throw new StoreUnavailable(new Error('down'));
  return records.get(keyId);
}

function at(offset: number): string {
  return new Date(START + offset).toISOString();
}

const { keyId, secretHash } = minted;
const record = { keyId, secretHash, name: 'web', permission: 'read', createdAt: at(0) } as const;

function write(change: Partial<KeyRecord>): void {
  records.set(keyId, { ...record, ...change });
}

const verify = () => verifier.verify(minted.apiKey);

/** The reason of a key's refusal; `down` if the table is. */
async function refusal(apiKey = minted.apiKey, by = verifier): Promise<string> {
  const error = await by.verify(apiKey).catch((cause) => cause);
  return error instanceof StoreUnavailable ? 'down' : error.reason;
}

it('the text of a key is one word that a secret scanner recognizes, with a key id and a secret', () => {
  const keys = new Set(Array.from({ length: 100 }, () => mintApiKey().apiKey));
  expect(keys.size).toBe(100);
  for (const apiKey of keys) expect(apiKey).toMatch(/^psk_[0-9A-Za-z]{42}$/);
  const parsed = parseApiKey(minted.apiKey);
  expect(parsed?.keyId).toBe(keyId);
  expect(matchesSecretHash(parsed?.secret ?? '', secretHash)).toBe(true);
  // Keys of earlier releases stay valid.
  const [id, secret] = ['0'.repeat(10), '0'.repeat(26)];
  expect(parseApiKey(`psk_${id}${secret}vMD9FQ`)).toEqual({ keyId: id, secret });
  for (const hash of [secretHash, '', 'short']) {
    expect(matchesSecretHash('A'.repeat(26), hash)).toBe(false);
  }
});

it.each([0, 0.5, 1])('a secret and its hash count as a whole: their part at %d', (place) => {
  const { secret = '' } = parseApiKey(minted.apiKey) ?? {};
  const at = Math.round(place * (secret.length - 1));
  const other = secret[at] === 'A' ? 'B' : 'A';
  const changed = secret.slice(0, at) + other + secret.slice(at + 1);
  expect(matchesSecretHash(changed, secretHash)).toBe(false);
  const bytes = Buffer.from(secretHash, 'base64url');
  const index = Math.round(place * (bytes.length - 1));
  bytes[index] = Number(bytes[index]) ^ 1;
  expect(matchesSecretHash(secret, bytes.toString('base64url'))).toBe(false);
});

it('the key ids of deployments are theirs alone, and valid', () => {
  const isOfHook = (id: string) => id.startsWith(hookKeyIds.replace('*', ''));
  const drawn = ['hook000000', 'hookHOOK99', 'hooKaaaaaa', 'aaaaaaaaaa'];
  expect(randomKeyId(() => drawn.shift() as string)).toBe('hooKaaaaaa');
  expect(drawn).toEqual(['aaaaaaaaaa']);
  for (let count = 0; count < 100; count++) {
    const id = randomHookKeyId();
    expect(isOfHook(id)).toBe(true);
    expect(parseApiKey(mintApiKey(id).apiKey)?.keyId).toBe(id);
    expect(isOfHook(mintApiKey().keyId)).toBe(false);
  }
});

it('a key with one changed character is refused, and so is random text of its format', () => {
  const { apiKey } = minted;
  for (let place = 0; place < apiKey.length; place++) {
    const other = apiKey[place] === 'a' ? 'b' : 'a';
    expect(parseApiKey(apiKey.slice(0, place) + other + apiKey.slice(place + 1))).toBeUndefined();
  }
  fc.assert(fc.property(fc.stringMatching(/^psk_[0-9A-Za-z]{42}$/), (text) => !parseApiKey(text)));
});

describe('a key', () => {
  it('is verified with its name and permission, refused with another secret, and not looked up if malformed', async () => {
    expect(await refusal(`${minted.apiKey}x`)).toBe('malformed key');
    expect(reads).toBe(0);
    expect(await verify()).toEqual({ keyId, name: 'web', permission: 'read', originId: keyId });
    const { apiKey } = mintApiKey(keyId);
    await expect(verifier.verify(apiKey)).rejects.toMatchObject({ reason: 'wrong secret', keyId });
  });

  // During the grace of a rotation, the end of a revoked key is in the future.
  it.each([
    ['expiresAt', 'expired key'],
    ['revokedAt', 'revoked key'],
  ])('works until the instant of its %s', async (name, reason) => {
    write({ [name]: at(1_000) });
    now = START + 999;
    await verify();
    now = START + 1_000;
    expect(await refusal()).toBe(reason);
  });

  it('is cached for 60 s from the start of its read, since it may be revoked during the read', async () => {
    readTakes = 10_000;
    await verify();
    write({ revokedAt: at(1) });
    now = START + 59_999;
    await verify();
    expect(reads).toBe(1);
    now = START + 60_000;
    expect(await refusal()).toBe('revoked key');
    expect(reads).toBe(2);
  });
});

describe('the cache', () => {
  it('lets concurrent first requests share one read', async () => {
    await Promise.all(Array.from({ length: 50 }, verify));
    expect(reads).toBe(1);
  });

  it('starts a new read after a second, since the requests that wait for the old one may time out', async () => {
    const hang = Promise.withResolvers<undefined>();
    const get = async (keyId: string) => (++reads === 1 ? hang.promise : records.get(keyId));
    verifier = defineKeyVerifier({ get }, () => now);
    const early = [verify()];
    now = START + 999;
    early.push(verify());
    expect(reads).toBe(1);
    now = START + 1_000;
    await verify();
    expect(reads).toBe(2);
    hang.reject(new StoreUnavailable(new Error('out of time')));
    for (const each of early) await expect(each).rejects.toBeInstanceOf(StoreUnavailable);
    await verify();
    expect(reads).toBe(2);
  });

  it('shares the later of two reads after the earlier one has failed', async () => {
    const hangs = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const get = (_: string) => hangs[reads++]?.promise ?? Promise.resolve(undefined);
    verifier = defineKeyVerifier({ get }, () => now);
    const early = refusal();
    now = START + 1_000;
    const late = [refusal()];
    hangs[0]?.reject(new StoreUnavailable(new Error('out of time')));
    expect(await early).toBe('down');
    late.push(refusal());
    hangs[1]?.resolve(undefined);
    expect(await Promise.all(late)).toEqual(['unknown key', 'unknown key']);
    expect(reads).toBe(2);
  });

  it('refuses a key as soon as the later of two reads finds it deleted', async () => {
    const found = Promise.withResolvers<KeyRecord>();
    const gone = Promise.withResolvers<undefined>();
    const get = async (_: string) => (++reads === 1 ? found.promise : gone.promise);
    verifier = defineKeyVerifier({ get }, () => now);
    const early = verify();
    now = START + 1_000;
    const late = refusal();
    found.resolve(record);
    await early;
    gone.resolve(undefined);
    expect([await late, await refusal()]).toEqual(['unknown key', 'unknown key']);
    expect(reads).toBe(2);
  });

  it('reads an unknown key id again only after 5 s', async () => {
    records.clear();
    for (let count = 0; count < 100; count++) expect(await refusal()).toBe('unknown key');
    write({});
    now = START + 4_999;
    expect(await refusal()).toBe('unknown key');
    expect(reads).toBe(1);
    now = START + 5_000;
    await verify();
    expect(reads).toBe(2);
  });

  it('keeps a key in use, and at most 1,000 unknown key ids, during a flood of these', async () => {
    await verify();
    const flood = Array.from({ length: 1_001 }, () => mintApiKey().apiKey);
    for (const apiKey of flood) await refusal(apiKey);
    reads = 0;
    for (const kept of [flood[1], flood[500], flood[1_000], minted.apiKey]) await refusal(kept);
    expect(reads).toBe(0);
    await refusal(flood[0]);
    expect(reads).toBe(1);
    // A deleted key also becomes an unknown one.
    records.clear();
    now = START + 60_000;
    for (let count = 0; count < 2; count++) expect(await refusal()).toBe('unknown key');
    expect(reads).toBe(2);
  });

  it('is forgotten after 1,000 later reads, not while it is among the last 1,000', async () => {
    const [first, second, last] = [mintApiKey(), mintApiKey(), mintApiKey()];
    const others = [second, ...Array.from({ length: 997 }, () => mintApiKey())];
    for (const { keyId, secretHash } of [first, ...others, last]) {
      records.set(keyId, { ...record, keyId, secretHash });
    }
    await verifier.verify(first.apiKey);
    now = START + 30_000;
    for (const { apiKey } of others) await verifier.verify(apiKey);
    now = START + 60_000;
    for (const { apiKey } of [first, minted, last]) await verifier.verify(apiKey);
    reads = 0;
    await verifier.verify(first.apiKey);
    expect(reads).toBe(0);
    await verifier.verify(second.apiKey);
    expect(reads).toBe(1);
  });
});

it('a key verified within 60 s works while the key table is down, and a failed read is not cached', async () => {
  isDown = true;
  expect(await refusal()).toBe('down');
  isDown = false;
  await verify();
  isDown = true;
  now = START + 59_999;
  await verify();
  now = START + 60_000;
  expect(await refusal()).toBe('down');
});

/** The service's own verifier on a record with other attributes. */
function defineEdited(changes: Record<string, AttributeValue | undefined>): KeyVerifier {
  const attributes = Object.entries(record).map(([name, value]) => [name, { S: value }]);
  const Item = Object.entries({ ...Object.fromEntries(attributes), ...changes });
  const present = Object.fromEntries(Item.filter(([, value]) => value !== undefined));
  const client = { send: async () => ({ Item: present }) } as unknown as DynamoDBClient;
  return defineKeyVerifier(defineKeyStore(client, 'apiKeys'), () => now);
}

const time = '2999-12-01T00:00:00.000Z';

describe('an edited record', () => {
  it.each<[string, AttributeValue | undefined]>([
    ['expiresAt', { S: '' }],
    ['expiresAt', { S: '2999' }],
    ['expiresAt', { S: time.slice(0, -1) }],
    ['expiresAt', { S: `x${time}` }],
    ['expiresAt', { S: time.replace('12-01', '13-41') }],
    ['revokedAt', { S: '2999' }],
    ['revokedAt', { N: '1764547200' }],
    ['secretHash', undefined],
    ['secretHash', { N: '1' }],
    ['secretHash', { S: `${secretHash}a` }],
    ['permission', undefined],
    ['permission', { S: 'admin' }],
  ])('is refused with the %s %j', async (name, value) => {
    expect(await refusal(minted.apiKey, defineEdited({ [name]: value }))).toBe('unreadable record');
  });

  it.each([time, '2999-12-01T00:00:00Z'])('is valid until %s', async (time) => {
    const edited = defineEdited({ expiresAt: { S: time }, revokedAt: { S: time } });
    expect(await edited.verify(minted.apiKey)).toMatchObject({ permission: 'read' });
  });
});
