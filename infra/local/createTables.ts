import {
  CreateTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { type TableDefinition, tables } from '../tables.ts';

/** Creates the tables that are not there yet, each under its name in `infra/tables.ts`. */
export async function createTables(client: DynamoDBClient): Promise<void> {
  for (const [name, table] of Object.entries<TableDefinition>(tables)) {
    try {
      await client.send(toCommand(name, table));
    } catch (error) {
      if (!(error instanceof ResourceInUseException)) throw error;
    }
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
