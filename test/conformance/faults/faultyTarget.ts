import { type Engine, startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import type { StoreData } from '../../../infra/local/storeData.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import type { Certificate } from '../../support/faults/certificate.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { fixtures } from '../fixtures.ts';
import { defineFreshFunctions, openLocalTarget } from '../localTarget.ts';
import { suites } from '../operations/suites.ts';
import type { ConformanceTarget } from '../target.ts';

export interface FaultyTarget extends ConformanceTarget {
  readonly store: FaultyEndpoint;
}

/** The call that a valid request of an operation makes to its own table, as a rule of the faulty endpoint. */
export function toStoreCalls(operationId: OperationId): { action: string; table: string } {
  const [[table = '', [action = ''] = []] = []] = Object.entries(suites[operationId].access);
  return { action: action.replace('dynamodb:', ''), table };
}

/**
 * A local stage with a database that can fail. `identity` makes the database speak TLS, and `define` makes the
 * functions.
 */
export async function openFaultyStage(
  data: StoreData = fixtures,
  startEngine: () => Promise<Engine> = startEmbeddedEngine,
  identity?: Certificate,
  define = (_: FaultyEndpoint) => defineFreshFunctions(),
): Promise<FaultyTarget> {
  const engine = await startEngine();
  const store = await startFaultyEndpoint(engine.endpoint, identity);
  const close = async () => {
    await store.close();
    await engine.close();
  };
  const target = await openLocalTarget({
    data,
    startEngine: async () => ({ endpoint: store.endpoint, close }),
    loadHandler: define(store),
  });
  return { ...target, store };
}
