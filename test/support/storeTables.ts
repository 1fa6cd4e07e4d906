import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTables } from '../../infra/local/createTables.ts';
import type { Engine } from '../../infra/local/engine.ts';
import { setFunctionEnvironment } from '../../infra/local/lambda/functionEnvironment.ts';
import { defineDynamoDB } from '../../shared/runtime/dynamodb.ts';

/** The service's own client on an engine with empty tables, each named as in `infra/stages/tables.ts`. */
export async function openStoreTables({ endpoint }: Engine): Promise<DynamoDBClient> {
  setFunctionEnvironment(endpoint);
  const client = defineDynamoDB();
  await createTables(client);
  return client;
}
