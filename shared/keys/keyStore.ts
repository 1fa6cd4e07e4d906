import { type AttributeValue, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Permission } from '../contract/operation.ts';

/** A key's record in the table. Times are ISO 8601 in UTC. */
export interface KeyRecord {
  readonly keyId: string;
  /** SHA-256 of the secret in base64url. */
  readonly secretHash: string;
  readonly name: string;
  readonly permission: Permission;
  readonly createdAt: string;
  readonly expiresAt?: string;
  /** From this time, the key is refused. It is in the future during a rotated key's grace. */
  readonly revokedAt?: string;
  /** When the successor was made. */
  readonly rotatedAt?: string;
  /** The key id of the latest successor. */
  readonly successorId?: string;
  /** The key id of the first key of its chain of rotations; absent in that key. */
  readonly originId?: string;
}

/** Whether the deciding attributes are valid, as the commands write them. Other keys are refused. */
export function isReadable({ secretHash, permission, expiresAt, revokedAt }: KeyRecord): boolean {
  const isPermission = permission === 'read' || permission === 'write';
  return isPermission && hash.test(secretHash) && isTime(expiresAt) && isTime(revokedAt);
}

const hash = /^[\w-]{43}$/;
const utcTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Whether it is a time or undefined. `Date.parse` alone accepts many texts that are not meant as times. */
function isTime(time: string | undefined): boolean {
  return time === undefined || (utcTime.test(time) && !Number.isNaN(Date.parse(time)));
}

export type KeyStore = ReturnType<typeof defineKeyStore>;

/** Reads the key table; functions need nothing else. */
export function defineKeyStore(client: DynamoDBClient, tableName: string) {
  return {
    async get(keyId: string): Promise<KeyRecord | undefined> {
      // Consistent, so that a revocation counts as soon as it is written.
      const { Item } = await client.send(
        new GetItemCommand({
          TableName: tableName,
          Key: { keyId: { S: keyId } },
          ConsistentRead: true,
        }),
      );
      return Item && toKeyRecord(Item);
    },
  };
}

/**
 * Every attribute of a key is a string, so no document client is needed. Any other type becomes an empty text. That is
 * never a valid value, so the record is present but unreadable.
 */
function toKeyRecord(attributes: Record<string, AttributeValue>): KeyRecord {
  const entries = Object.entries(attributes).map(([name, { S = '' }]) => [name, S]);
  return Object.fromEntries(entries) as KeyRecord;
}
