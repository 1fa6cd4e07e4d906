import type { Operation } from '../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import { operationSettings } from '../stages/stages.ts';

/** A function as the gateway calls it. */
export interface LambdaFunction {
  readonly operation: Operation & { readonly operationId: OperationId };
  readonly timeoutMilliseconds: number;
  /** Gets an event, a stream if the operation is `streamed` in the contract, and a context. */
  readonly handler: (...values: never[]) => Promise<unknown>;
}

export type LoadHandler = (operationId: OperationId) => Promise<unknown>;

/** One function for each operation of the contract. */
export async function loadFunctions(loadHandler: LoadHandler): Promise<LambdaFunction[]> {
  return Promise.all(
    operationIds.map(async (id) => ({
      operation: operations[id],
      timeoutMilliseconds: operationSettings[id].timeoutSeconds * 1000,
      handler: toHandler(await loadHandler(id)),
    })),
  );
}

/** The handlers in `functions/`. */
export function importHandler(operationId: OperationId): Promise<unknown> {
  return import(`../../functions/${operationId}.ts`);
}

/** Accepts a handler, or a module that exports one. */
function toHandler(loaded: unknown): LambdaFunction['handler'] {
  const isHandler = typeof loaded === 'function';
  return (isHandler ? loaded : (loaded as LambdaFunction).handler) as LambdaFunction['handler'];
}
