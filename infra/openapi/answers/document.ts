import committed from '../../../shared/contract/openapi.json' with { type: 'json' };
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import type { OpenApiDocument } from '../openApi.ts';

/** The committed document. */
export const document = committed as unknown as OpenApiDocument;

/**
 * The operation whose method and path a request has; none, where it has no value for a parameter.
 * @param path relative to the base address, with or without a query
 */
export function findOperation(method: string, path: string): OperationId | undefined {
  const [segments = ''] = path.split('?');
  return operationIds.find((id) => {
    const pattern = operations[id].path.replaceAll(/\{\w+\}/g, '[^/]+');
    return operations[id].method === method && new RegExp(`^${pattern}$`).test(segments);
  });
}
