import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { MAX_PAYLOAD_BYTES } from '../../gateway/gatewayErrors.ts';
import type { LambdaFunction } from '../lambdaFunction.ts';
import { buildLambdaContext, requestIds } from '../lambdaRuntime.ts';
import { type GatewayResponse, sendResponse } from './messages.ts';

export class FunctionTimeout extends Error {
  override readonly name = 'FunctionTimeout';
}

/**
 * Calls a function and sends its response.
 * @throws {FunctionTimeout} when it takes too long
 * @throws the function's error, or an Error when its response is invalid; not if the client has left
 */
export async function invoke(
  { operation, timeoutMilliseconds, handler }: LambdaFunction,
  event: APIGatewayProxyEvent,
  response: ServerResponse,
): Promise<void> {
  const requestId = randomUUID();
  const context = buildLambdaContext(operation.operationId, requestId, timeoutMilliseconds);

  async function call(): Promise<void> {
    const values = operation.streamed ? [event, response, context] : [event, context];
    const result = await handler(...(values as never[]));
    if (!operation.streamed) sendWhole(result as GatewayResponse, response);
    else if (!response.writableEnded) throw new Error('The function did not end its response.');
    else await finished(response);
  }

  let expire: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    const message = `The function did not respond within ${timeoutMilliseconds / 1000} seconds.`;
    expire = setTimeout(() => reject(new FunctionTimeout(message)), timeoutMilliseconds);
  });
  try {
    await Promise.race([requestIds.run(requestId, call), expired]);
  } catch (error) {
    if (!response.destroyed) throw error;
  } finally {
    clearTimeout(expire);
  }
}

function sendWhole({ statusCode, headers, body = '' }: GatewayResponse, response: ServerResponse) {
  if (Buffer.byteLength(body) > MAX_PAYLOAD_BYTES) {
    throw new Error('The function returned more than 6 MB.');
  }
  sendResponse({ statusCode, headers, body }, response);
}
