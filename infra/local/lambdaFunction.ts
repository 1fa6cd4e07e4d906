import type { Operation } from '../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import { operationSettings } from '../stages/stages.ts';

export interface LambdaFunction {
  readonly operation: Operation & { readonly operationId: OperationId };
  readonly timeoutMilliseconds: number;
  /** Gets an event, a stream if the operation is `streamed` in the contract, and a context. */
  readonly handler: (...values: never[]) => Promise<unknown>;
}

export type LoadModule = (operationId: OperationId) => Promise<Pick<LambdaFunction, 'handler'>>;

export async function loadFunctions(loadModule: LoadModule): Promise<LambdaFunction[]> {
  return Promise.all(
    operationIds.map(async (id) => ({
      operation: operations[id],
      timeoutMilliseconds: operationSettings[id].timeoutSeconds * 1000,
      handler: (await loadModule(id)).handler,
    })),
  );
}

export const importModule: LoadModule = (operationId) =>
  import(`../../functions/${operationId}.ts`);
