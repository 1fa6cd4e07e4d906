import { startEmbeddedEngine } from '../../../infra/local/engine.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../../support/faultyEndpoint.ts';
import { openLocalTarget } from '../localTarget.ts';
import { operationIds, sendValid } from '../requests.ts';
import type { ConformanceTarget } from '../target.ts';

export interface FaultyTarget extends ConformanceTarget {
  readonly store: FaultyEndpoint;
}

/** The action with which each operation reaches its table. */
export const actionOf: Record<OperationId, { action: string; variable: string }> = {
  listInventory: { action: 'Scan', variable: 'INVENTORY_TABLE' },
  updateInventory: { action: 'UpdateItem', variable: 'INVENTORY_TABLE' },
  getPet: { action: 'GetItem', variable: 'PETS_TABLE' },
  listOrders: { action: 'Query', variable: 'ORDERS_TABLE' },
};

/** The calls of an operation to its own table, as a rule of the faulty endpoint has them. */
export function toStoreCalls(operationId: OperationId): { action: string; table: string } {
  const { action, variable } = actionOf[operationId];
  return { action, table: String(process.env[variable]) };
}

/** A local stage whose database can be made to fail. Each operation has met the key once. */
export async function openFaultyTarget(): Promise<FaultyTarget> {
  const engine = await startEmbeddedEngine({});
  const store = await startFaultyEndpoint(engine.endpoint);
  const target = await openLocalTarget({
    engine: {
      endpoint: store.endpoint,
      async close() {
        await store.close();
        await engine.close();
      },
    },
  });
  for (const operationId of operationIds) await sendValid(target, operationId);
  store.heal();
  return { ...target, store };
}
