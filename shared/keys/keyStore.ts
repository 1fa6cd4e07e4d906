import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
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
}

/** The reading side of the key table, which is all that a function needs. */
export interface KeyStore {
  get(keyId: string): Promise<KeyRecord | undefined>;
}

export function defineKeyStore(client: DynamoDBDocumentClient, tableName: string): KeyStore {
  return {
    async get(keyId) {
      // Consistent, so that a revocation counts from the moment it is written.
      const { Item } = await client.send(
        new GetCommand({ TableName: tableName, Key: { keyId }, ConsistentRead: true }),
      );
      return Item as KeyRecord | undefined;
    },
  };
}
