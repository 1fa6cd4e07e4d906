import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';

/** An event of PATCH /inventory/{petId} as API Gateway's REST proxy integration makes it. */
export function toUpdateEvent(
  petId: string,
  apiKey: string,
  changes: Partial<APIGatewayProxyEvent> = {},
): APIGatewayProxyEvent {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
  const event: Omit<APIGatewayProxyEvent, 'requestContext'> = {
    resource: '/inventory/{petId}',
    path: `/inventory/${petId}`,
    httpMethod: 'PATCH',
    headers,
    multiValueHeaders: toMultiValue(headers),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: { petId },
    stageVariables: null,
    body: '{"quantity":5}',
    isBase64Encoded: false,
    ...changes,
  };
  const requestContext = { requestId: randomUUID(), stage: 'v1', httpMethod: 'PATCH' };
  return { ...event, requestContext } as APIGatewayProxyEvent;
}

export function toMultiValue(headers: Record<string, string>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
}

export function toContext(): Context {
  return {
    awsRequestId: randomUUID(),
    functionName: 'updateInventory',
    getRemainingTimeInMillis: () => 28_000,
  } as Context;
}
