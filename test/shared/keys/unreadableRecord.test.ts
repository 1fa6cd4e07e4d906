import { type AttributeValue, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { defineKeyStore } from '../../../shared/keys/keyStore.ts';
import { defineKeyVerifier, type VerifiedKey } from '../../../shared/keys/keyVerifier.ts';
import { useStoreTables } from '../../support/storeTables.ts';

const tables = useStoreTables(startEmbeddedEngine);

/** Verifies a key whose record has other attributes than it should. */
async function verify(changes: Record<string, AttributeValue | undefined>): Promise<VerifiedKey> {
  const { apiKey, keyId, secretHash } = mintApiKey();
  const Item = {
    keyId: { S: keyId },
    secretHash: { S: secretHash },
    name: { S: 'shop' },
    permission: { S: 'read' },
    createdAt: { S: '2026-12-01T00:00:00.000Z' },
    ...changes,
  };
  const present = Object.entries(Item).filter(([, value]) => value !== undefined);
  const put = { TableName: 'apiKeys', Item: Object.fromEntries(present) as typeof Item };
  await tables.client().send(new PutItemCommand(put));
  return defineKeyVerifier(defineKeyStore(tables.client(), 'apiKeys')).verify(apiKey);
}

const wrongTimes: Record<string, AttributeValue> = {
  'a word': { S: 'yesterday' },
  'no text': { S: '' },
  'seconds since the epoch': { N: '1764547200' },
  'seconds since the epoch as text': { S: '1764547200' },
  'a year': { S: '2999' },
  'a time without its zone': { S: '2999-12-01T00:00:00.000' },
  'a time that there is not': { S: '2999-13-41T00:00:00.000Z' },
  nothing: { NULL: true },
  'a time in a list': { L: [{ S: '2999-12-01T00:00:00.000Z' }] },
};
const unreadable = { name: 'Unauthorized', reason: 'unreadable record' };

describe.each(Object.entries(wrongTimes))('a key that ends at %s', (_, time) => {
  it.each(['expiresAt', 'revokedAt'])('by its %s is refused', async (name) => {
    await expect(verify({ [name]: time })).rejects.toMatchObject(unreadable);
  });
});

it.each([
  ['without the hash of a secret', { secretHash: undefined }],
  ['whose hash is none', { secretHash: { S: '' } }],
  ['whose hash is not text', { secretHash: { N: '1' } }],
  ['whose hash is too short', { secretHash: { S: 'abc' } }],
  ['without a permission', { permission: undefined }],
  ['with a permission that there is not', { permission: { S: 'admin' } }],
  ['whose permission is not text', { permission: { BOOL: true } }],
])('a key %s is refused', async (_, changes) => {
  await expect(verify(changes as Record<string, undefined>)).rejects.toMatchObject(unreadable);
});

it.each(['2999-12-01T00:00:00.000Z', '2999-12-01T00:00:00Z'])(
  'a key that ends at %s works',
  async (time) => {
    const ends = { expiresAt: { S: time }, revokedAt: { S: time } };
    expect(await verify(ends)).toMatchObject({ permission: 'read' });
  },
);
