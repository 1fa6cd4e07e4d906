import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import type { Permission } from '../../shared/contract/operation.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import { defineKeyRegister, type KeyRegister } from '../../shared/keys/keyRegister.ts';
import { type Resource, resourceNames, resources } from '../cli/bulk/resources.ts';
import { type TableDefinition, tables } from '../stages/tables.ts';
import type { Engine } from './engine/engine.ts';
import type { StoreData } from './storeData.ts';

export interface FillOptions {
  readonly data: StoreData;
  /** Loads the data only if no earlier run has finished its start. */
  readonly onlyIfNew?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** @returns the API keys for writing and for reading */
export async function fillTables(putItems: Engine['putItems'], options: FillOptions) {
  const client = new DynamoDBClient({});
  try {
    await createTables(client);
    const keys = defineKeyRegister(client, 'apiKeys');
    const isFilled = options.onlyIfNew && (await keys.get(keyIds.write)) !== undefined;
    if (!isFilled) await loadData(putItems, options);
    const readKey = await replaceLocalKey(keys, 'read');
    // Last, so its presence means that the tables are filled.
    return { readKey, apiKey: await replaceLocalKey(keys, 'write') };
  } finally {
    client.destroy();
  }
}

/** Creates missing tables, each under its name in `infra/stages/tables.ts`. */
export async function createTables(client: DynamoDBClient): Promise<void> {
  for (const [name, table] of Object.entries<TableDefinition>(tables)) {
    try {
      await client.send(toCommand(name, table));
    } catch (error) {
      if (!(error instanceof ResourceInUseException)) throw error;
    }
    // An engine reports a table as created a moment before it accepts requests for it.
    await waitUntilTableExists(
      { client, maxWaitTime: 60, minDelay: 0.01, maxDelay: 0.1 },
      { TableName: name },
    );
  }
}

function toCommand(name: string, { partitionKey, sortKey }: TableDefinition): CreateTableCommand {
  const keys = sortKey ? [partitionKey, sortKey] : [partitionKey];
  return new CreateTableCommand({
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: keys.map((key) => ({ AttributeName: key.name, AttributeType: key.type })),
    KeySchema: keys.map((key, index) => ({
      AttributeName: key.name,
      KeyType: index === 0 ? 'HASH' : 'RANGE',
    })),
  });
}

/** An interruption is noticed after so many items. */
const BATCH_SIZE = 500;

/**
 * Writes every entry, and overwrites any with the same id.
 * @throws the signal's reason, or the error of a write
 */
async function loadData(putItems: Engine['putItems'], { data, signal }: FillOptions) {
  for (const tableName of resourceNames) {
    const { toItem }: Resource = resources[tableName];
    const entries: readonly unknown[] = data[tableName];
    for (let from = 0; from < entries.length; from += BATCH_SIZE) {
      signal?.throwIfAborted();
      await putItems(tableName, entries.slice(from, from + BATCH_SIZE).map(toItem));
    }
  }
}

/** Every start uses the same key ids, so a new key replaces the last one. */
const keyIds: Record<Permission, string> = { read: 'localreads', write: 'localstage' };

async function replaceLocalKey(keys: KeyRegister, permission: Permission): Promise<string> {
  const { apiKey, ...key } = mintApiKey(keyIds[permission]);
  const createdAt = new Date().toISOString();
  await keys.put({ ...key, name: `local ${permission}`, permission, createdAt });
  return apiKey;
}
