import { type AttributeValue, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Permission } from '../contract/operation.ts';

/** What the table keeps of a key. Times are ISO 8601 in UTC. */
export interface KeyRecord {
  readonly keyId: string;
  /** SHA-256 of the secret in base64url. */
  readonly secretHash: string;
  readonly name: string;
  readonly permission: Permission;
  readonly createdAt: string;
  readonly expiresAt?: string;
  /** From then on the key is refused. It may lie ahead, while a rotated key's grace runs. */
  readonly revokedAt?: string;
  /** When a successor was made. */
  readonly rotatedAt?: string;
  /** The key id of the successor made last. */
  readonly successorId?: string;
}

/** Whether all that decides about a key is what the commands write; another key is refused. */
export function isReadable({ secretHash, permission, expiresAt, revokedAt }: KeyRecord): boolean {
  const isPermission = permission === 'read' || permission === 'write';
  return isPermission && hash.test(secretHash) && isTime(expiresAt) && isTime(revokedAt);
}

/** SHA-256 in base64url. */
const hash = /^[\w-]{43}$/;
const utcTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Whether it is a time, or none is set: the parser alone takes much for a time that nobody meant as one. */
function isTime(time: string | undefined): boolean {
  return time === undefined || (utcTime.test(time) && !Number.isNaN(Date.parse(time)));
}

/** The reading side of the key table, which is all that a function needs. */
export interface KeyStore {
  get(keyId: string): Promise<KeyRecord | undefined>;
}

export function defineKeyStore(client: DynamoDBClient, tableName: string): KeyStore {
  return {
    async get(keyId) {
      // Consistent, so that a revocation counts from the moment it is written.
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
 * Every attribute of a key is a string, so that no document client is needed to read one. What is
 * something else becomes an empty text, which is no value of any of them: it is there, and unreadable.
 */
function toKeyRecord(attributes: Record<string, AttributeValue>): KeyRecord {
  const entries = Object.entries(attributes).map(([name, { S = '' }]) => [name, S]);
  return Object.fromEntries(entries) as KeyRecord;
}
