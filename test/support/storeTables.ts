import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTables } from '../../infra/local/createTables.ts';
import type { Engine } from '../../infra/local/engine.ts';
import { defineDynamoDB } from '../../shared/runtime/dynamodb.ts';

/** The service's own client on an engine with empty tables, each named as in `infra/tables.ts`. */
export async function openStoreTables({ endpoint }: Engine): Promise<DynamoDBClient> {
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
  const client = defineDynamoDB();
  await createTables(client);
  return client;
}
