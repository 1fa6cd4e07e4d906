import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Permission } from '../../shared/contract/operation.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import { defineKeyRegister } from '../../shared/keys/keyRegister.ts';
import type { KeyRecord } from '../../shared/keys/keyStore.ts';
import { readVariable } from '../../shared/runtime/environment.ts';

/** Puts a new key into the table of the local stage that runs in this process, and returns the key. */
export async function addApiKey(
  permission: Permission,
  times: Pick<KeyRecord, 'expiresAt' | 'revokedAt'> = {},
): Promise<string> {
  const { keyId, secretHash, apiKey } = mintApiKey();
  const client = new DynamoDBClient();
  const register = defineKeyRegister(client, readVariable('API_KEYS_TABLE'));
  const createdAt = new Date().toISOString();
  await register.put({ keyId, secretHash, name: 'test', permission, createdAt, ...times });
  client.destroy();
  return apiKey;
}
