import { type OperationId, operationIds, operations } from './operations.ts';

/** A path of the contract with this value in place of each parameter. */
export function fillPath(path: string, value: string): string {
  return path.replaceAll(/\{\w+\}/g, value);
}

/**
 * The parameters of a path of the contract in a request's path, still encoded; `undefined` if it is another path. As on
 * API Gateway, doubled slashes and slashes at the end make no other path. An encoded slash is part of its segment.
 */
export function matchPath(path: string, requested: string): Record<string, string> | undefined {
  const pattern = path.replaceAll('/', '/+').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  const found = new RegExp(`^${pattern}/*$`).exec(requested);
  return found ? { ...found.groups } : undefined;
}

/**
 * The contract's path of a request.
 * @param requested relative to the base URL, with or without a query
 */
export function findPath(requested: string): string | undefined {
  const [path = ''] = requested.split('?');
  const found = operationIds.map((id) => operations[id].path).filter((one) => matchPath(one, path));
  // As on API Gateway, a path without parameters goes before one with them.
  return found.find((one) => !one.includes('{')) ?? found[0];
}

/**
 * @param requested a request's path, or the contract's own
 * @returns `undefined` for what belongs to no operation, such as an unknown path or a preflight
 */
export function findOperation(method = '', requested = ''): OperationId | undefined {
  const path = findPath(requested);
  return operationIds.find(
    (id) => operations[id].path === path && operations[id].method === method,
  );
}
