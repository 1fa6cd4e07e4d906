import { setTimeout } from 'node:timers/promises';
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { type TableDefinition, tables } from '../stages/tables.ts';

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
