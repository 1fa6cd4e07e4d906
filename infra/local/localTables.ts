import { setTimeout } from 'node:timers/promises';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import type { Permission } from '../../shared/contract/operation.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import { defineKeyRegister, type KeyRegister } from '../../shared/keys/keyRegister.ts';
import { type Resource, type ResourceName, resources, toKeySchema } from '../bulk/resources.ts';
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

export interface FillOptions extends LoadOptions {
  /** What to put into the tables. */
  readonly data: StoreData;
  /** Puts the data only where no earlier run finished its start. */
  readonly onlyIfNew?: boolean;
}

/** @returns the API keys, of which that to write is made last: its presence says that the tables are filled */
export async function fillTables({
  data,
  onlyIfNew,
  signal,
  onProgress,
}: FillOptions): Promise<LocalKeys> {
  const client = new DynamoDBClient({});
  try {
    await createTables(client);
    const keys = defineKeyRegister(client, 'apiKeys');
    if (!(onlyIfNew && (await hasLocalKey(keys)))) {
      await loadData(client, data, { signal, onProgress });
    }
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
    await untilActive(client, name);
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

/** An engine says that a table is created a moment before it takes requests for it. */
async function untilActive(client: DynamoDBClient, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    if (Table?.TableStatus === 'ACTIVE') return;
    if (attempt === 500) throw new Error(`The table ${name} does not become active.`);
    await setTimeout(10);
  }
}

/** How long one call may go on failing, in milliseconds. */
const GIVE_UP_AFTER = 60_000;

interface LoadOptions {
  /** Ends the load. */
  readonly signal?: AbortSignal | undefined;
  /** Is told how many entries are in the tables, after each group of them. */
  readonly onProgress?: ((done: number) => void) | undefined;
}

/** So that the engine's thread never waits for this one. */
const GROUPS_UNDER_WAY = 3;

/**
 * Puts every entry, over any that has its id.
 * @throws the signal's reason, or what a write threw
 */
async function loadData(
  client: DynamoDBClient,
  { inventory, pets, orders }: StoreData,
  { signal = new AbortController().signal, onProgress }: LoadOptions = {},
): Promise<void> {
  let done = 0;

  async function writeAll<Contents>(
    tableName: ResourceName,
    entries: readonly Contents[],
    { toItem }: Pick<Resource<Contents>, 'toItem'>,
  ): Promise<void> {
    const key = toKeySchema(tableName);
    const table = { client, tableName, key, giveUpAfter: GIVE_UP_AFTER, signal };
    const writeGroup = defineReplacingWriter(table);
    let next = 0;

    async function writeInTurn(): Promise<void> {
      while (next < entries.length) {
        const group = entries.slice(next, next + GROUP_SIZE);
        next += GROUP_SIZE;
        await writeGroup(group.map((entry) => toItem(entry)));
        done += group.length;
        onProgress?.(done);
      }
    }

    await Promise.all(Array.from({ length: GROUPS_UNDER_WAY }, writeInTurn));
  }

  await writeAll('inventory', inventory, resources.inventory);
  await writeAll('pets', pets, resources.pets);
  await writeAll('orders', orders, resources.orders);
}

/** One key id for every start: the new key takes the place of the last one. */
const keyIds: Record<Permission, string> = { read: 'localreads', write: 'localstage' };

/** Whether an earlier run got as far as making its write key, which is its last step before it serves. */
async function hasLocalKey(keys: KeyRegister): Promise<boolean> {
  return (await keys.get(keyIds.write)) !== undefined;
}

/** Makes the key with a permission, and returns it. */
async function replaceLocalKey(keys: KeyRegister, permission: Permission): Promise<string> {
  const { keyId, apiKey, secretHash } = mintApiKey(keyIds[permission]);
  const createdAt = new Date().toISOString();
  await keys.put({ keyId, secretHash, name: `local ${permission}`, permission, createdAt });
  return apiKey;
}
