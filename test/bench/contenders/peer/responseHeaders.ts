import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

/** Headers of every response, on success and on error. */
export function responseHeaders(
  headers: Record<string, string> = {},
): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult> {
  const addHeaders: MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>['after'] = ({
    event,
    response,
  }) => {
    if (!response) return;
    response.headers = {
      ...response.headers,
      'Access-Control-Allow-Origin': process.env.ALLOWED_ORIGINS ?? '*',
      'X-Request-Id': event.requestContext.requestId,
      ...headers,
    };
  };
  return { after: addHeaders, onError: addHeaders };
}
