import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { StartEngine } from '../../../../infra/local/engine/engine.ts';
import {
  type LambdaFunction,
  type LoadHandler,
  loadFunctions,
} from '../../../../infra/local/lambda/lambdaFunction.ts';
import { startLocalStage } from '../../../../infra/local/localStage.ts';
import type { Permission } from '../../../../shared/contract/operation.ts';
import type { OperationId } from '../../../../shared/contract/operations.ts';
import { parseApiKey } from '../../../../shared/keys/apiKey.ts';
import { defineKeyRegister } from '../../../../shared/keys/keyRegister.ts';
import { fixtures } from '../../../conformance/fixtures.ts';
import { openStoredTables, type StoredTables } from './storedTables.ts';

/** A stage to send cases to, and its functions, which it shares with its gateway. */
export interface FuzzTarget {
  readonly port: number;
  readonly functions: Readonly<Record<OperationId, LambdaFunction>>;
  readonly tables: StoredTables;
  readonly keys: Readonly<Record<Permission, readonly string[]>>;
  /** The secret part of each key. */
  readonly secrets: readonly string[];
  readonly petIds: readonly string[];
  close(): Promise<void>;
}

export interface FuzzTargetOptions {
  readonly startEngine: StartEngine;
  readonly loadHandler: LoadHandler;
}

const KEYS = 4;

/** The pets and entries that the document's examples ask for are among those of the fixtures, but for one cat. */
const data = {
  ...fixtures,
  pets: [...fixtures.pets, { id: 11n, name: 'Tom', status: 'sold' as const }],
};

/** A local stage with the conformance suite's data, in this process. */
export async function openFuzzTarget({
  startEngine,
  loadHandler,
}: FuzzTargetOptions): Promise<FuzzTarget> {
  const loaded = new Map<OperationId, Promise<unknown>>();
  const loadOnce: LoadHandler = (id) => {
    const loading = loaded.get(id) ?? loadHandler(id);
    loaded.set(id, loading);
    return loading;
  };
  const stage = await startLocalStage({ port: 0, data, startEngine, loadHandler: loadOnce });
  const functions = await loadFunctions(loadOnce);
  const client = new DynamoDBClient({ endpoint: stage.engineEndpoint });
  const register = defineKeyRegister(client, 'apiKeys');
  const create = async (permission: Permission) =>
    Promise.all(
      Array.from({ length: KEYS }, async (_, index) => {
        const { apiKey } = await register.create({ name: `${permission} ${index}`, permission });
        return apiKey;
      }),
    );
  const keys = { write: await create('write'), read: await create('read') };
  client.destroy();
  const petIds = data.inventory.map(({ petId }) => petId.toString());
  const tables = openStoredTables(stage.engineEndpoint, petIds);
  return {
    port: Number(new URL(stage.baseUrl).port),
    functions: Object.fromEntries(
      functions.map((one) => [one.operation.operationId, one]),
    ) as Record<OperationId, LambdaFunction>,
    tables,
    keys,
    secrets: Object.values(keys)
      .flat()
      .map((apiKey) => parseApiKey(apiKey)?.secret ?? ''),
    petIds,
    async close() {
      tables.close();
      await stage.close();
    },
  };
}
