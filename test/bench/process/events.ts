import type { APIGatewayProxyEvent } from 'aws-lambda';
import { toProxyEvent } from '../../../infra/local/gateway/proxyEvent.ts';
import { type OperationId, operations } from '../../../shared/contract/operations.ts';

/** An event that the operation answers with 200, as API Gateway sends it. */
export function toEvent(
  operationId: OperationId,
  apiKey: string,
  headers: Record<string, string> = {},
  query = '',
): APIGatewayProxyEvent {
  const { method, path: resource } = operations[operationId];
  const petId = resource.includes('{petId}') ? { petId: '7' } : {};
  const body = method === 'PATCH' ? '{"quantity":7}' : null;
  const sent = {
    Host: 'api.petstore.example',
    Authorization: `Bearer ${apiKey}`,
    'User-Agent': 'petstore-storefront/1.0',
    ...(body !== null && { 'Content-Type': 'application/json' }),
    ...headers,
  };
  const path = resource.replace('{petId}', '7');
  const request = {
    requestId: '8f3a1c52-7d0e-4b6f-9a21-5c4d3e2f1a0b',
    method,
    fullPath: `/v1${path}`,
    path,
    query: new URLSearchParams(query),
    headerLines: Object.entries(sent),
    sourceIp: '192.0.2.1',
  };
  return toProxyEvent(request, resource, petId, body);
}
