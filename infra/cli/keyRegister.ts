import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Permission } from '../../shared/contract/operation.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import { defineKeyStore, type KeyRecord, type KeyStore } from '../../shared/keys/keyStore.ts';

/** A new key. The whole key is available only here. */
export interface NewKey {
  readonly apiKey: string;
  readonly record: KeyRecord;
}

export interface RetiredKey {
  readonly ends: string;
  /** Its record before this change. It may differ from the one that the caller read. */
  readonly before: KeyRecord;
}

/** Writes the key table, for operators; no function needs it. */
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
  /** Makes a key with the same name, permission and lifetime. The old key does not change. */
  succeed(old: KeyRecord): Promise<NewKey>;
  /**
   * Ends a key that has a successor: after the grace, or at its own end if that is earlier.
   * @param graceMilliseconds 0 ends it at once
   */
  retire(keyId: string, successorId: string, graceMilliseconds: number): Promise<RetiredKey>;
  /** Ends a key, unless it has already ended. Within 60 s, it is refused everywhere. */
  revoke(keyId: string): Promise<void>;
}

/**
 * @param base a client only for the register, since a document client changes its settings
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
   * @returns the record before the change
   * @throws {ConditionalCheckFailedException} if there is no such key, or the condition fails
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

  /** As `update`, but has no effect and returns undefined if the key has an earlier end or does not exist. */
  async function end(
    keyId: string,
    changes: Parameters<typeof update>[1] & { readonly revokedAt: string },
  ): Promise<KeyRecord | undefined> {
    try {
      // Without a revokedAt, every comparison with it is false.
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

/** An attribute that is not a string becomes an empty text, as in the store. */
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
