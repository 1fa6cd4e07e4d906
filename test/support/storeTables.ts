import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Engine } from '../../infra/local/engine/engine.ts';
import { setFunctionEnvironment } from '../../infra/local/lambdaRuntime.ts';
import { createTables } from '../../infra/local/localTables.ts';
import { defineDynamoDB } from '../../shared/runtime/dynamodb.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from './faults/faultyEndpoint.ts';

/** The service's own client on an engine with empty tables, named as in `infra/stages/tables.ts`. */
export async function openStoreTables({
  endpoint,
}: Pick<Engine, 'endpoint'>): Promise<DynamoDBClient> {
  setFunctionEnvironment(endpoint, 'https://docs.petstore.example');
  const client = defineDynamoDB();
  // Without the service's time limits, which an engine that starts on a busy machine exceeds.
  const patient = new DynamoDBClient({ endpoint });
  await createTables(patient);
  patient.destroy();
  return client;
}

export type StoreTables = ReturnType<typeof useStoreTables>;

/** For the surrounding group's tests: an engine with empty tables, and the service's own client; its calls can fail. */
export function useStoreTables(start: () => Promise<Engine>) {
  let engine: Engine;
  let endpoint: FaultyEndpoint;
  let client: DynamoDBClient;

  beforeAll(async () => {
    engine = await start();
    endpoint = await startFaultyEndpoint(engine.endpoint);
    client = await openStoreTables(endpoint);
  });
  beforeEach(() => endpoint.heal());
  afterAll(async () => {
    client.destroy();
    await endpoint.close();
    await engine.close();
  });

  return { engine: () => engine, endpoint: () => endpoint, client: () => client };
}
