import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
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

/** A key that has a successor. */
export interface RetiredKey {
  /** When it ends. */
  readonly ends: string;
  /** Its record until then, which somebody else may have changed since it was read. */
  readonly before: KeyRecord;
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
   */
  retire(keyId: string, successorId: string, graceMilliseconds: number): Promise<RetiredKey>;
  /** Ends a key, unless it has ended already: at the latest 60 s later nothing lets it in. */
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

  /**
   * @returns the record as it was until then
   * @throws {ConditionalCheckFailedException} when there is no such key, or the condition does not hold
   */
  async function update(
    keyId: string,
    changes: Pick<KeyRecord, 'revokedAt' | 'rotatedAt' | 'successorId'>,
    condition = 'attribute_exists(keyId)',
  ): Promise<KeyRecord> {
    const { Attributes = {} } = await client.send(
      new UpdateCommand({
        TableName: tableName,
        Key: { keyId },
        UpdateExpression: `SET ${Object.keys(changes)
          .map((name) => `${name} = :${name}`)
          .join(', ')}`,
        ConditionExpression: condition,
        ExpressionAttributeValues: Object.fromEntries(
          Object.entries(changes).map(([name, value]) => [`:${name}`, value]),
        ),
        ReturnValues: 'ALL_OLD',
      }),
    );
    return toRecord(Attributes);
  }

  /** As `update`, but changes nothing and returns nothing where the key has an earlier end, or is not there. */
  async function end(
    keyId: string,
    changes: Parameters<typeof update>[1] & { readonly revokedAt: string },
  ): Promise<KeyRecord | undefined> {
    try {
      // Where there is no revokedAt, no comparison with it holds.
      const isNoLater = 'attribute_exists(keyId) AND NOT revokedAt < :revokedAt';
      return await update(keyId, changes, isNoLater);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return undefined;
      throw error;
    }
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
      // A record that somebody else wrote may lack it.
      const createdAt = (record: Partial<KeyRecord>) => record.createdAt ?? '';
      return records.sort((one, other) => createdAt(one).localeCompare(createdAt(other)));
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
      const rotation = { rotatedAt: toTime(now()), successorId };
      const graceEnds = toTime(now() + graceMilliseconds);
      const before =
        (await end(keyId, { ...rotation, revokedAt: graceEnds })) ??
        (await update(keyId, rotation));
      const { revokedAt = graceEnds } = before;
      return { ends: revokedAt < graceEnds ? revokedAt : graceEnds, before };
    },

    async revoke(keyId) {
      const before = await end(keyId, { revokedAt: toTime(now()) });
      if (!before && !(await store.get(keyId))) throw new Error(`There is no key ${keyId}.`);
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
