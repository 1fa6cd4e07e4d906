import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import type { Permission } from '../../shared/contract/operation.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import { defineKeyRegister, type KeyRegister } from '../../shared/keys/keyRegister.ts';
import { type Resource, resourceNames, resources, toKeySchema } from '../bulk/resources.ts';
import { defineReplacingWriter, GROUP_SIZE } from '../bulk/tableWriters.ts';
import { type TableDefinition, tables } from '../stages/tables.ts';
import type { StoreData } from './storeData.ts';

/** The keys that a start makes. */
export interface LocalKeys {
  /** A key with write permission. */
  readonly apiKey: string;
  /** A key that allows reading alone. */
  readonly readKey: string;
}

export interface FillOptions {
  /** What to put into the tables. */
  readonly data: StoreData;
  /** Puts the data only where no earlier run finished its start. */
  readonly onlyIfNew?: boolean;
  /** Ends the load. */
  readonly signal?: AbortSignal | undefined;
  /** Is told how many entries are in the tables, after each group of them. */
  readonly onProgress?: ((done: number) => void) | undefined;
}

/** @returns the API keys, of which that to write is made last: its presence says that the tables are filled */
export async function fillTables(options: FillOptions): Promise<LocalKeys> {
  const client = new DynamoDBClient({});
  try {
    await createTables(client);
    const keys = defineKeyRegister(client, 'apiKeys');
    const isFilled = options.onlyIfNew && (await keys.get(keyIds.write)) !== undefined;
    if (!isFilled) await loadData(client, options);
    const readKey = await replaceLocalKey(keys, 'read');
    return { readKey, apiKey: await replaceLocalKey(keys, 'write') };
  } finally {
    client.destroy();
  }
}

/** Creates the tables that are not there yet, each under its name in `infra/stages/tables.ts`. */
export async function createTables(client: DynamoDBClient): Promise<void> {
  for (const [name, table] of Object.entries<TableDefinition>(tables)) {
    try {
      await client.send(toCommand(name, table));
    } catch (error) {
      if (!(error instanceof ResourceInUseException)) throw error;
    }
    // An engine says that a table is created a moment before it takes requests for it.
    await waitUntilTableExists(
      { client, maxWaitTime: 10, minDelay: 0.01, maxDelay: 0.1 },
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

/** How long one call may go on failing, in milliseconds. */
const GIVE_UP_AFTER = 60_000;

/** So that the engine's thread never waits for this one. */
const GROUPS_UNDER_WAY = 3;

/**
 * Puts every entry, over any that has its id.
 * @throws the signal's reason, or what a write threw
 */
async function loadData(
  client: DynamoDBClient,
  { data, signal = new AbortController().signal, onProgress }: FillOptions,
): Promise<void> {
  let done = 0;
  for (const tableName of resourceNames) {
    const { toItem }: Resource = resources[tableName];
    const entries: readonly unknown[] = data[tableName];
    const table = { client, tableName, giveUpAfter: GIVE_UP_AFTER, signal };
    const writeGroup = defineReplacingWriter({ ...table, key: toKeySchema(tableName) });
    let next = 0;
    const writeInTurn = async () => {
      while (next < entries.length) {
        const group = entries.slice(next, next + GROUP_SIZE);
        next += GROUP_SIZE;
        await writeGroup(group.map(toItem));
        done += group.length;
        onProgress?.(done);
      }
    };
    await Promise.all(Array.from({ length: GROUPS_UNDER_WAY }, writeInTurn));
  }
}

/** One key id for every start: the new key takes the place of the last one. */
const keyIds: Record<Permission, string> = { read: 'localreads', write: 'localstage' };

/** Makes the key with a permission, and returns it. */
async function replaceLocalKey(keys: KeyRegister, permission: Permission): Promise<string> {
  const { apiKey, ...key } = mintApiKey(keyIds[permission]);
  const createdAt = new Date().toISOString();
  await keys.put({ ...key, name: `local ${permission}`, permission, createdAt });
  return apiKey;
}
