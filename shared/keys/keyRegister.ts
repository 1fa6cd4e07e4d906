import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Permission } from '../contract/operation.ts';
import { mintApiKey } from './apiKey.ts';
import { defineKeyStore, type KeyRecord, type KeyStore } from './keyStore.ts';

/** A key just made: the only time that the whole key can be seen. */
export interface NewKey {
  readonly apiKey: string;
  readonly record: KeyRecord;
}

/** The writing side of the key table, for those who hand out keys; no function needs it. */
export interface KeyRegister extends KeyStore {
  create(key: {
    name: string;
    permission: Permission;
    expiresAt?: Date | undefined;
  }): Promise<NewKey>;
  /** Every key, oldest first. */
  list(): Promise<KeyRecord[]>;
  /** Adds a key, or replaces the one with the same key id. */
  put(record: KeyRecord): Promise<void>;
  /** Makes a key with the same name, permission and lifetime. The old key stays as it is. */
  succeed(old: KeyRecord): Promise<NewKey>;
  /**
   * Ends a key that has a successor: once the grace is over, or when it would have ended anyway.
   * @param graceMilliseconds 0 ends it at once
   * @returns when it ends
   */
  retire(keyId: string, successorId: string, graceMilliseconds: number): Promise<string>;
  /** Ends a key: at the latest 60 s later nothing lets it in. */
  revoke(keyId: string): Promise<void>;
}

/**
 * @param base a client of the register's own, since a document client changes its settings
 * @param now the clock, in milliseconds since the epoch
 */
export function defineKeyRegister(
  base: DynamoDBClient,
  tableName: string,
  now: () => number = Date.now,
): KeyRegister {
  const client = DynamoDBDocumentClient.from(base);

  async function create(
    key: Pick<KeyRecord, 'name' | 'permission' | 'expiresAt'>,
  ): Promise<NewKey> {
    const { apiKey, keyId, secretHash } = mintApiKey();
    const record = { keyId, secretHash, ...key, createdAt: toTime(now()) };
    await client.send(
      new PutCommand({
        TableName: tableName,
        Item: record,
        ConditionExpression: 'attribute_not_exists(keyId)',
      }),
    );
    return { apiKey, record };
  }

  /** @param changes when the key ends, and what else becomes of it */
  async function end(
    keyId: string,
    changes: Pick<KeyRecord, 'revokedAt' | 'rotatedAt' | 'successorId'>,
  ): Promise<void> {
    await client.send(
      new UpdateCommand({
        TableName: tableName,
        Key: { keyId },
        UpdateExpression: `SET ${Object.keys(changes)
          .map((name) => `${name} = :${name}`)
          .join(', ')}`,
        ConditionExpression: 'attribute_exists(keyId)',
        ExpressionAttributeValues: Object.fromEntries(
          Object.entries(changes).map(([name, value]) => [`:${name}`, value]),
        ),
      }),
    );
  }

  const store = defineKeyStore(base, tableName);
  return {
    ...store,

    async put(record) {
      await client.send(new PutCommand({ TableName: tableName, Item: record }));
    },

    create({ name, permission, expiresAt }) {
      return create({ name, permission, ...(expiresAt && { expiresAt: expiresAt.toISOString() }) });
    },

    async list() {
      const records: KeyRecord[] = [];
      let next: Record<string, unknown> | undefined;
      do {
        const { Items = [], LastEvaluatedKey } = await client.send(
          new ScanCommand({ TableName: tableName, ExclusiveStartKey: next, ConsistentRead: true }),
        );
        records.push(...Items.map(toRecord));
        next = LastEvaluatedKey;
      } while (next);
      return records.sort((one, other) => one.createdAt.localeCompare(other.createdAt));
    },

    succeed({ name, permission, createdAt, expiresAt }) {
      const lifetime = expiresAt && Date.parse(expiresAt) - Date.parse(createdAt);
      return create({
        name,
        permission,
        ...(lifetime && { expiresAt: toTime(now() + lifetime) }),
      });
    },

    async retire(keyId, successorId, graceMilliseconds) {
      // As it is now: it may have been revoked since somebody looked.
      const { revokedAt } = (await store.get(keyId)) ?? {};
      const graceEnds = toTime(now() + graceMilliseconds);
      const ends = revokedAt && revokedAt < graceEnds ? revokedAt : graceEnds;
      await end(keyId, { revokedAt: ends, rotatedAt: toTime(now()), successorId });
      return ends;
    },

    async revoke(keyId) {
      await end(keyId, { revokedAt: toTime(now()) });
    },
  };
}

/** What is no text, in a record that somebody else wrote, becomes an empty one, as the store reads it. */
function toRecord(item: Record<string, unknown>): KeyRecord {
  const entries = Object.entries(item).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : '',
  ]);
  return Object.fromEntries(entries) as KeyRecord;
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
