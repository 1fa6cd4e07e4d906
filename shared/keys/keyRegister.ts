import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  PutCommand,
  paginateScan,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { mintApiKey } from './apiKey.ts';
import { defineKeyStore, isReadable, type KeyRecord } from './keyStore.ts';

export type KeyRegister = ReturnType<typeof defineKeyRegister>;

/**
 * Makes and ends keys, for operators and the hook of deployments. Operations only read the table.
 * @param base a client only for the register, since a document client changes its settings
 */
export function defineKeyRegister(base: DynamoDBClient, tableName: string) {
  const { update, revokeAt, ...table } = defineKeyTable(base, tableName);

  /** @returns the whole key, which is available only here, and its record */
  async function create({
    expiresAt,
    keyId,
    ...key
  }: Pick<KeyRecord, 'name' | 'permission' | 'originId'> & {
    readonly expiresAt?: Date | undefined;
    readonly keyId?: string;
  }) {
    const { apiKey, ...minted } = mintApiKey(keyId);
    const expiry = expiresAt && { expiresAt: expiresAt.toISOString() };
    const record: KeyRecord = { ...minted, ...key, ...expiry, createdAt: toTime(Date.now()) };
    await table.put(record, 'attribute_not_exists(keyId)');
    return { apiKey, record };
  }

  return {
    ...defineKeyStore(base, tableName),
    ...table,
    create,

    /** Makes a key with the same name, permission, lifetime and origin. The old key does not change. */
    succeed({ keyId, originId = keyId, ...old }: KeyRecord) {
      const { name, permission, createdAt, expiresAt } = old;
      const lifetime = expiresAt && Date.parse(expiresAt) - Date.parse(createdAt);
      const newExpiry = lifetime ? new Date(Date.now() + lifetime) : undefined;
      return create({ name, permission, originId, expiresAt: newExpiry });
    },

    /**
     * Revokes a key that has a successor, after the grace.
     * @param graceMilliseconds 0 revokes it at once
     * @returns when it stops working: it may expire earlier
     */
    async retire(keyId: string, successorId: string, graceMilliseconds: number): Promise<string> {
      const rotation = { rotatedAt: toTime(Date.now()), successorId };
      const graceEnds = toTime(Date.now() + graceMilliseconds);
      const { revokedAt = graceEnds, expiresAt = graceEnds } =
        (await revokeAt(keyId, { ...rotation, revokedAt: graceEnds })) ??
        (await update(keyId, rotation));
      const [earliest = graceEnds] = [revokedAt, expiresAt, graceEnds].sort();
      return earliest;
    },

    /** Revokes a key, unless it is already revoked or does not exist. Within 60 s, it is refused everywhere. */
    async revoke(keyId: string): Promise<void> {
      await revokeAt(keyId, { revokedAt: toTime(Date.now()) });
    },
  };
}

/** The register's calls of DynamoDB. */
function defineKeyTable(base: DynamoDBClient, tableName: string) {
  const client = DynamoDBDocumentClient.from(base);

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
        ...toAssignments(changes),
        ConditionExpression: condition,
        ReturnValues: 'ALL_OLD',
      }),
    );
    return toRecord(Attributes);
  }

  return {
    update,

    /** Adds a key, or replaces the one with the same key id. */
    async put(Item: KeyRecord, ConditionExpression?: string): Promise<void> {
      await client.send(new PutCommand({ TableName: tableName, Item, ConditionExpression }));
    },

    /** As `update`, but has no effect and returns undefined if the key is revoked earlier or does not exist. */
    async revokeAt(
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
    },

    /** Every key, oldest first. */
    async list(): Promise<KeyRecord[]> {
      const pages = paginateScan({ client }, { TableName: tableName, ConsistentRead: true });
      const items = (await Array.fromAsync(pages)).flatMap(({ Items = [] }) => Items);
      return items.map(toRecord).sort((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
    },

    /** Deletes a key that nobody was given, without a trace. */
    async remove(keyId: string): Promise<void> {
      await client.send(new DeleteCommand({ TableName: tableName, Key: { keyId } }));
    },
  };
}

function toAssignments(changes: Readonly<Record<string, string>>) {
  const names = Object.keys(changes);
  const values = Object.entries(changes).map(([name, value]) => [`:${name}`, value]);
  return {
    UpdateExpression: `SET ${names.map((name) => `${name} = :${name}`).join(', ')}`,
    ExpressionAttributeValues: Object.fromEntries(values),
  };
}

/** A missing name or time, or an attribute that is not a string, becomes an empty text: one such record hides no others. */
function toRecord(item: Record<string, unknown>): KeyRecord {
  const entries = Object.entries({ name: '', createdAt: '', ...item }).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : '',
  ]);
  return Object.fromEntries(entries) as KeyRecord;
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

type KeyStatus = 'active' | 'ending' | 'expired' | 'revoked' | 'unreadable';

/**
 * The status of a key at a time, in milliseconds since the epoch. `ending` will be revoked. `unreadable` is refused,
 * since these commands do not write such a record.
 */
export function findKeyStatus(record: KeyRecord, now: number): KeyStatus {
  if (!isReadable(record)) return 'unreadable';
  const { revokedAt, expiresAt } = record;
  if (revokedAt !== undefined && Date.parse(revokedAt) <= now) return 'revoked';
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now) return 'expired';
  return revokedAt === undefined ? 'active' : 'ending';
}
