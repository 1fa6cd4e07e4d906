import type { APIGatewayProxyEvent } from 'aws-lambda';

/** An event as a REST API's proxy integration sends it, with the parts that the functions read. */
export function toProxyRequest(
  headers: Record<string, string[]> = {},
  pathParameters: Record<string, string> | null = null,
): APIGatewayProxyEvent {
  return {
    multiValueHeaders: headers,
    pathParameters,
    body: null,
    isBase64Encoded: false,
    requestContext: { requestId: 'request-1' },
  } as unknown as APIGatewayProxyEvent;
}
