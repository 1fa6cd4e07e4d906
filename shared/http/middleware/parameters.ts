import type * as z from 'zod/mini';
import type { Operation } from '../../contract/operation.ts';
import type { OperationMiddleware, OperationRequest } from '../operationRequest.ts';
import { parseInput } from '../parseInput.ts';

/** Reads the parameters of the path as the operation's schema has them. */
export function parameters(schema: NonNullable<Operation['parameters']>): OperationMiddleware {
  function parseParameters({ event, internal }: OperationRequest): void {
    internal.parameters = parseInput(
      schema as z.core.$ZodType<Record<string, unknown>>,
      event.pathParameters ?? {},
    );
  }

  return { before: parseParameters };
}
