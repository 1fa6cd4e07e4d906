import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { ZodError } from 'zod';

const codes: Record<number, string> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  415: 'unsupported_media_type',
};

/** What `@middy/http-error-handler` does, with the service's Error body. */
export function httpErrorHandler(): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult> {
  return {
    onError(request) {
      const status = toStatus(request.error);
      const message = status < 500 ? String(request.error?.message) : 'Internal server error';
      if (status >= 500) console.error(request.error);
      request.response = {
        statusCode: status,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ code: codes[status] ?? 'internal_error', message, status }),
      };
    },
  };
}

function toStatus(error: unknown): number {
  if (error instanceof ZodError) return 400;
  const { statusCode = 500, name } = error as { statusCode?: number; name?: string };
  if (name === 'Unauthorized') return 401;
  return statusCode === 422 ? 400 : statusCode;
}
