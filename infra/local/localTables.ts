import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import type { Permission } from '../../shared/contract/operation.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import { defineKeyRegister, type KeyRegister } from '../../shared/keys/keyRegister.ts';
import { type Item, type Resource, resourceNames, resources } from '../cli/bulk/resources.ts';
import { BATCH_SIZE, defineReplacingWriter, workThrough } from '../cli/bulk/tableWriters.ts';
import { type TableDefinition, tables } from '../stages/tables.ts';
import type { Engine } from './engine/engine.ts';
import type { StoreData } from './storeData.ts';

export interface FillOptions {
  readonly data: StoreData;
  /** Loads the data only if no earlier run has finished its start. */
  readonly onlyIfNew?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Writes items without a request for each batch. Without it, DynamoDB's API does. */
  readonly putItems?: Engine['putItems'];
  /** Gets how many entries are loaded, and the share of all. */
  readonly onProgress?: ((entries: number, share: number) => void) | undefined;
}

/** @returns the API keys for writing and for reading */
export async function fillTables(options: FillOptions) {
  const client = new DynamoDBClient({});
  try {
    await createTables(client);
    const keys = defineKeyRegister(client, 'apiKeys');
    const isFilled = options.onlyIfNew && (await keys.get(keyIds.write)) !== undefined;
    if (!isFilled) await loadData(client, options);
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

/** An engine in this process takes so many items at once. */
const ENGINE_BATCH_SIZE = 500;

/**
 * Writes every entry, and overwrites any with the same id.
 * @throws the signal's reason, or the error of a write
 */
async function loadData(
  client: DynamoDBClient,
  { data, putItems, onProgress, signal = new AbortController().signal }: FillOptions,
): Promise<void> {
  const total = resourceNames.reduce((sum, name) => sum + data[name].length, 0);
  let done = 0;
  for (const tableName of resourceNames) {
    const { toItem }: Resource = resources[tableName];
    const entries: readonly unknown[] = data[tableName];
    const write = putItems
      ? (items: readonly Item[]) => putItems(tableName, items)
      : defineReplacingWriter({ client, tableName, signal });
    const size = putItems ? ENGINE_BATCH_SIZE : BATCH_SIZE;
    await workThrough(toBatches(entries, size), async (batch) => {
      signal.throwIfAborted();
      await write(batch.map(toItem));
      done += batch.length;
      onProgress?.(done, done / total);
    });
  }
}

function* toBatches<Entry>(entries: readonly Entry[], size: number): Generator<readonly Entry[]> {
  for (let from = 0; from < entries.length; from += size) yield entries.slice(from, from + size);
}

/** Every start uses the same key ids, so a new key replaces the last one. */
const keyIds: Record<Permission, string> = { read: 'localreads', write: 'localstage' };

async function replaceLocalKey(keys: KeyRegister, permission: Permission): Promise<string> {
  const { apiKey, ...key } = mintApiKey(keyIds[permission]);
  const createdAt = new Date().toISOString();
  await keys.put({ ...key, name: `local ${permission}`, permission, createdAt });
  return apiKey;
}
