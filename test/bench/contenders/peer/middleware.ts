import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { ZodError, z } from 'zod';
import type { Permission } from '../../../../shared/contract/operation.ts';
import { defineKeyStore } from '../../../../shared/keys/keyStore.ts';
import { defineKeyVerifier } from '../../../../shared/keys/keyVerifier.ts';

/** One client a container. Integers past 2^53 are read as bigint, so that ids stay exact. */
export const documents = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
  unmarshallOptions: { wrapNumbers: toExactNumber },
});

/** Lets `JSON.stringify` write a bigint as the digits of a number. */
Object.assign(BigInt.prototype, {
  toJSON(this: bigint) {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.toString());
  },
});

function toExactNumber(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

/** An error that the client is told of, as the `http-errors` package makes them. */
export class HttpError extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** The service's own check of API keys, cache included, so that both sides do the same work here. */
const verifier = defineKeyVerifier(defineKeyStore(documents, process.env.API_KEYS_TABLE ?? ''));

type Middleware = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/** @param toBody answers the request with this, and 200 */
export function defineHandler(
  permission: Permission,
  toBody: (event: APIGatewayProxyEvent) => Promise<unknown>,
  headers: Record<string, string> = {},
) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(responseHeaders(headers))
    .use(httpErrorHandler())
    .use(authenticate(permission))
    .handler(async (event: APIGatewayProxyEvent) => ({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(await toBody(event)),
    }));
}

function authenticate(permission: Permission): Middleware {
  return {
    async before({ event: { headers } }) {
      const authorization = headers.Authorization ?? headers.authorization ?? '';
      const key = await verifier.verify(authorization.replace(/^bearer +/i, ''));
      if (permission === 'write' && key.permission !== 'write') {
        throw new HttpError(403, 'The API key allows reading only.');
      }
    },
  };
}

/** Headers of every response, on success and on error. */
function responseHeaders(headers: Record<string, string>): Middleware {
  const addHeaders: Middleware['after'] = ({ event, response }) => {
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

const codes: Record<number, string> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  415: 'unsupported_media_type',
};

/** What `@middy/http-error-handler` does, with the service's Error body. */
function httpErrorHandler(): Middleware {
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

const MIN_ID = -(2n ** 63n);
const MAX_ID = 2n ** 63n - 1n;

/** The `{petId}` of a path: the canonical text of an int64. */
export const PathParameters = z.object({
  petId: z
    .string()
    .regex(/^(?:0|-?[1-9]\d{0,18})$/, 'must be an integer')
    .transform(BigInt)
    .refine((petId) => petId >= MIN_ID && petId <= MAX_ID, 'must be an int64'),
});

/** An inventory entry as the table keeps it; see `shared/store/inventoryRecord.ts`. */
export interface StoredEntry {
  readonly p: number | bigint;
  readonly q: number;
  readonly s: string;
}

const statusOf: Record<string, string> = { a: 'available', p: 'pending', s: 'sold' };

export function toInventoryItem({ p, q, s }: StoredEntry) {
  return { petId: p, quantity: q, status: statusOf[s] };
}
