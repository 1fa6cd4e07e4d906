import type { ParseArgsConfig } from 'node:util';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { toKeySchema } from '../../bulk/keySchema.ts';
import { type ResourceName, resourceNames } from '../../bulk/resources.ts';
import { parseStage, stageHelp, stageUsage, toRegion } from '../../cli/stageOption.ts';
import { readOutput, readStack } from '../../cli/stageStack.ts';
import { defineEmulatorClient } from '../../cli/tableOption.ts';
import { UsageError } from '../../cli/usage.ts';

/** Which tables a data command works on, as typed. */
export interface DataTableOptions {
  readonly stage?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly 'inventory-table'?: string | undefined;
  readonly 'pets-table'?: string | undefined;
  readonly 'orders-table'?: string | undefined;
}

export const dataTableFlags = {
  stage: { type: 'string' },
  endpoint: { type: 'string' },
  'inventory-table': { type: 'string' },
  'pets-table': { type: 'string' },
  'orders-table': { type: 'string' },
} as const satisfies ParseArgsConfig['options'];

export const dataTableHelp = `Which tables:
${stageHelp}
  --endpoint URL                  an emulator's, named inventory, pets and orders, or as
                                  --inventory-table, --pets-table and --orders-table say
`;

export interface DataTables {
  readonly client: DynamoDBClient;
  readonly tableNames: Readonly<Record<ResourceName, string>>;
}

/** One attempt a call, since the commands repeat calls by themselves, and a socket for each at once. */
const settings = {
  maxAttempts: 1,
  requestHandler: {
    connectionTimeout: 3_000,
    // An emulator on a busy machine takes its time over a page of a scan.
    requestTimeout: 30_000,
    throwOnRequestTimeout: true,
    httpAgent: { maxSockets: 100 },
    httpsAgent: { maxSockets: 100 },
  },
};

/** Refuses what does not say which tables, before anything is read. @throws {UsageError} */
export function checkDataTables(options: DataTableOptions): void {
  const { stage, endpoint } = options;
  const isNamed = resourceNames.some((name) => options[`${name}-table`] !== undefined);
  if ((stage === undefined) === (endpoint === undefined) || (stage !== undefined && isNamed)) {
    throw new UsageError(`Say which tables: ${stageUsage}, or --endpoint URL.`);
  }
  if (stage !== undefined) parseStage(stage);
  else if (endpoint !== undefined) defineEmulatorClient(endpoint).destroy();
}

/**
 * The tables of a deployed stage or of an emulator, once it is certain that those that are asked for
 * are there and have the right keys.
 * @throws {UsageError} when it is not clear which tables are meant
 */
export async function openDataTables(
  options: DataTableOptions,
  wanted: readonly ResourceName[],
): Promise<DataTables> {
  checkDataTables(options);
  const tables = await findTables(options);
  for (const name of wanted) await checkTable(tables, name);
  return tables;
}

async function findTables(options: DataTableOptions): Promise<DataTables> {
  const { stage: name, endpoint = '' } = options;
  if (name === undefined) {
    const toName = (resource: ResourceName) => options[`${resource}-table`] ?? resource;
    return {
      client: defineEmulatorClient(endpoint, settings),
      tableNames: {
        inventory: toName('inventory'),
        pets: toName('pets'),
        orders: toName('orders'),
      },
    };
  }
  const stage = parseStage(name);
  const stack = await readStack(stage);
  return {
    client: new DynamoDBClient({ ...settings, ...toRegion(stage) }),
    tableNames: {
      inventory: readOutput(stack, 'InventoryTableName'),
      pets: readOutput(stack, 'PetsTableName'),
      orders: readOutput(stack, 'OrdersTableName'),
    },
  };
}

async function checkTable({ client, tableNames }: DataTables, name: ResourceName): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableNames[name] }));
  const key = Table?.KeySchema?.map(({ AttributeName }) => AttributeName).join();
  if (key !== toKeySchema(name).join()) {
    throw new Error(`The table ${tableNames[name]} is not one of ${name}: its key is ${key}.`);
  }
}
