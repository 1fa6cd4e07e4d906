import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Permission } from '../../../shared/contract/operation.ts';
import { defineKeyRegister } from '../../../shared/keys/keyRegister.ts';
import { readVariable } from '../../../shared/runtime/environment.ts';

/** A key with what the log says of it. */
export interface NamedKey {
  readonly apiKey: string;
  readonly keyId: string;
  readonly name: string;
  readonly permission: Permission;
}

/** Makes keys, every other one of which may write, for the local stage that runs in this process. */
export async function addNamedKeys(count: number): Promise<readonly NamedKey[]> {
  const client = new DynamoDBClient();
  const register = defineKeyRegister(client, readVariable('API_KEYS_TABLE'));
  const keys = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const permission = index % 2 === 0 ? ('write' as const) : ('read' as const);
      const name = `client ${index}`;
      const { apiKey, record } = await register.create({ name, permission });
      return { apiKey, keyId: record.keyId, name, permission };
    }),
  );
  client.destroy();
  return keys;
}
