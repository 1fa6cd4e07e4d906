import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { statusOfCode, toErrorBody } from '../../../shared/contract/errorBody.ts';
import {
  allowedRequestHeaders,
  exposedHeaders,
  preflightMaxAgeSeconds,
} from '../../../shared/contract/headers.ts';
import type { GatewayError } from '../../gateway/gatewayErrors.ts';

/** A whole answer. */
export interface GatewayAnswer {
  readonly statusCode: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Buffer;
}

/**
 * An error that the gateway answers by itself, with the contract's Error body; but for a body that is too
 * large, which API Gateway refuses before it knows the API: no response of ours takes that one's place.
 */
export function toErrorAnswer(error: GatewayError, requestId: string): GatewayAnswer {
  if (error.code === 'payload_too_large') return tooLarge;
  return {
    statusCode: statusOfCode[error.code],
    headers: {
      'Content-Type': 'application/json',
      'X-Request-Id': requestId,
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers': exposedHeaders.join(','),
      ...error.headers,
    },
    body: JSON.stringify(toErrorBody(error.code, error.message)),
  };
}

const tooLarge: GatewayAnswer = {
  statusCode: statusOfCode.payload_too_large,
  headers: { 'Content-Type': 'text/plain' },
  body: 'HTTP content length exceeded 10485760 bytes.',
};

/** The answer to a browser's preflight. */
export function toPreflightAnswer(allow: string, requestId: string): GatewayAnswer {
  return {
    statusCode: 204,
    headers: {
      'X-Request-Id': requestId,
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': allow,
      'Access-Control-Allow-Headers': allowedRequestHeaders.join(','),
      'Access-Control-Max-Age': String(preflightMaxAgeSeconds),
    },
    body: '',
  };
}

export function sendAnswer(
  { statusCode, headers, body }: GatewayAnswer,
  response: ServerResponse,
): void {
  const length = statusCode === 204 || statusCode === 304 ? undefined : Buffer.byteLength(body);
  response.writeHead(statusCode, {
    ...headers,
    ...(length !== undefined && { 'Content-Length': length }),
  });
  response.end(body);
}
