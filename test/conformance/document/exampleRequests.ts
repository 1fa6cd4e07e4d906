import { mapOperations, type OperationId } from '../../../shared/contract/operations.ts';
import type { ExampleRequest } from '../operations/operationSuite.ts';
import { suites } from '../operations/suites.ts';

export type { ExampleRequest };

/** Each operation's, by name. */
export const exampleRequests: Readonly<
  Record<OperationId, Readonly<Record<string, ExampleRequest>>>
> = mapOperations((id) => suites[id].examples);
