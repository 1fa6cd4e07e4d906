import type { parseArgs } from 'node:util';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type ResourceName, resourceNames, toKeySchema } from '../../bulk/resources.ts';
import { parseStage, stageHelp, stageUsage, toRegion } from '../../cli/stageOption.ts';
import { readOutput, readStack } from '../../cli/stageStack.ts';
import { defineEmulatorClient } from '../../cli/tableOption.ts';
import { UsageError } from '../../cli/usage.ts';
import { toTableOutput } from '../../stages/resourceNames.ts';

/** What import and export both take: which tables, which files, and for how long to go on. */
export const dataFlags = {
  stage: { type: 'string' },
  endpoint: { type: 'string' },
  'inventory-table': { type: 'string' },
  'pets-table': { type: 'string' },
  'orders-table': { type: 'string' },
  inventory: { type: 'string' },
  pets: { type: 'string' },
  orders: { type: 'string' },
  'give-up-after': { type: 'string', default: '60s' },
  help: { type: 'boolean', short: 'h' },
} as const;

export type DataOptions = ReturnType<typeof parseArgs<{ options: typeof dataFlags }>>['values'];

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
export function checkDataTables(options: DataOptions): void {
  const { stage, endpoint } = options;
  const isNamed = resourceNames.some((name) => options[`${name}-table`] !== undefined);
  if ((stage === undefined) === (endpoint === undefined) || (stage !== undefined && isNamed)) {
    throw new UsageError(`Say which tables: ${stageUsage}, or --endpoint URL.`);
  }
  if (stage !== undefined) parseStage(stage);
  else if (endpoint !== undefined) defineEmulatorClient(endpoint).destroy();
}

/**
 * The tables of a deployed stage or of an emulator, once it is certain that the wanted ones are there and
 * have the right keys.
 */
export async function openDataTables(
  options: DataOptions,
  wanted: readonly ResourceName[],
): Promise<DataTables> {
  const tables = await findTables(options);
  for (const name of wanted) await checkTable(tables, name);
  return tables;
}

async function findTables(options: DataOptions): Promise<DataTables> {
  const { stage: name, endpoint = '' } = options;
  const toTables = (toName: (resource: ResourceName) => string) =>
    Object.fromEntries(resourceNames.map((one) => [one, toName(one)])) as DataTables['tableNames'];
  if (name === undefined) {
    const tableNames = toTables((resource) => options[`${resource}-table`] ?? resource);
    return { client: defineEmulatorClient(endpoint, settings), tableNames };
  }
  const stage = parseStage(name);
  const stack = await readStack(stage);
  return {
    client: new DynamoDBClient({ ...settings, ...toRegion(stage) }),
    tableNames: toTables((resource) => readOutput(stack, toTableOutput(resource))),
  };
}

async function checkTable({ client, tableNames }: DataTables, name: ResourceName): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableNames[name] }));
  const key = Table?.KeySchema?.map(({ AttributeName }) => AttributeName).join();
  if (key !== toKeySchema(name).join()) {
    throw new Error(`The table ${tableNames[name]} is not one of ${name}: its key is ${key}.`);
  }
}
